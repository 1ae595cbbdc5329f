import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('names the workspace and the key', async () => {
    const { status, body } = await app.api('get', '/health');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ok',
      workspacePublicId: app.workspace.workspaceId,
      apiKeyPublicId: app.workspace.apiKeyId,
    });
  });

  test('takes the key as a bearer token too', async () => {
    const { status, body } = await app.raw
      .get('/public/api/v1/health')
      .set('Authorization', `Bearer ${app.stranger.apiKey}`);
    expect(status).toBe(200);
    expect(body.workspacePublicId).toBe(app.stranger.workspaceId);
  });
});
