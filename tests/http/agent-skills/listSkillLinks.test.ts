import { describeListingLinks } from '../../support/agents/linkListSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingLinks(() => app, 'skill');
