import { describeUnlinking } from '../../support/agents/linkSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeUnlinking(() => app, 'knowledge_source');
