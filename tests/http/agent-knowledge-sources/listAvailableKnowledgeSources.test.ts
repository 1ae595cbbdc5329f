import { describeListingAvailable } from '../../support/agents/linkListSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingAvailable(() => app, 'knowledge_source', ['publicId', 'name', 'description']);
