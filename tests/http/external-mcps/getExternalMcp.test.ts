import { newId } from '../../../core/ids.ts';
import { withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { registerMcp, storeMcp } from '../../support/tools/mcpApi.ts';

const certificate = useCertificate();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(() => app.close());

const get = (id: string, key?: string) => app.api('get', `/external-mcps/${id}`, key);

describe('200', () => {
  test('the server as it was created, without its credential', async () => {
    const server = await startMcpServer(certificate);
    const auth = { authType: 'CUSTOM_HEADER', authHeaderName: 'X-Key', authValue: 'sk-secret' } as const;
    const created = await registerMcp(app, { url: server.url, ...auth });
    const { status, body, text } = await get(created.publicId);
    expect(status).toBe(200);
    expect(body).toEqual(created);
    expect(body).toMatchObject({ status: 'CONNECTED', authHeaderName: 'X-Key', tools: [{ name: 'echo' }] });
    expect(text).not.toContain('sk-secret');
    await server.close();
  });

  test('a server that was never called is PENDING', async () => {
    const id = await storeMcp(app.workspace, { status: 'PENDING' });
    expect((await get(id)).body).toMatchObject({
      status: 'PENDING',
      errorMessage: null,
      lastDiscoveredAt: null,
      tools: [],
    });
  });
});

describe('404 EXTERNAL_MCP_NOT_FOUND', () => {
  test("a deleted one and another workspace's are treated as one that does not exist", async () => {
    const deleted = await storeMcp(app.workspace);
    await app.api('delete', `/external-mcps/${deleted}`).expect(204);
    const foreign = await storeMcp(app.stranger);
    const missing = await get(newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
    for (const id of [deleted, foreign]) {
      const answer = await get(id);
      expect(answer.status).toBe(404);
      expect(withoutRequestId(answer.body)).toEqual(withoutRequestId(missing.body));
    }
    expect((await get(foreign, app.stranger.apiKey)).status).toBe(200);
  });
});
