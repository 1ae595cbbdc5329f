import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';
import { allNotFound, answersForMissing } from './tools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('the tool as it was created', async () => {
    const tool = await makeTool(app, { description: 'Looks an order up.', requiresApproval: true });
    const { status, body } = await app.api('get', `/http-tools/${tool.publicId}`);
    expect(status).toBe(200);
    expect(body).toEqual(tool);
  });

  test('an id in upper case is the same id', async () => {
    const tool = await makeTool(app);
    expect((await app.api('get', `/http-tools/${tool.publicId.toUpperCase()}`)).body).toEqual(tool);
  });

  test('every secret value is hidden', async () => {
    const configuration = { url: 'https://api.example.com', secrets: { one: 'first-secret', two: 'second-secret' } };
    const { publicId } = await makeTool(app, { configuration });
    const { body, text } = await app.api('get', `/http-tools/${publicId}`);
    expect(body.configuration.secrets).toEqual({ one: '********', two: '********' });
    expect(text).not.toMatch(/first-secret|second-secret/);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test('refuses a value that is no id', async () => {
    const { status, body } = await app.api('get', '/http-tools/no-id');
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('404 HTTP_TOOL_NOT_FOUND', () => {
  test("a deleted tool and another workspace's are treated as one that does not exist", async () => {
    expect(await answersForMissing(app, (id) => app.api('get', `/http-tools/${id}`))).toEqual(allNotFound);
  });
});
