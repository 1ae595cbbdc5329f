import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeListingLinks } from '../../support/linkListSuites.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingLinks(() => app, 'skill');
