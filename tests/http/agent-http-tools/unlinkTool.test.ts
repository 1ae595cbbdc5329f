import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeUnlinking } from '../../support/linkSuites.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeUnlinking(() => app, 'http_tool');
