import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeListingAvailable } from '../../support/linkListSuites.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingAvailable(() => app, 'skill', ['publicId', 'name', 'description']);
