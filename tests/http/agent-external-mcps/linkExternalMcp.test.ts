import { makeAgent } from '../../support/agents/agents.ts';
import { describeLinking } from '../../support/agents/linkSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { registerMcp, storeMcp } from '../../support/tools/mcpApi.ts';

const certificate = useCertificate();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(() => app.close());

const link = (agentId: string, externalMcpPublicId: string, fields: object = {}) =>
  app.api('post', `/agents/${agentId}/external-mcps`).send({ externalMcpPublicId, ...fields });
const links = async (agentId: string) => (await app.api('get', `/agents/${agentId}/external-mcps`)).body;

describeLinking(() => app, 'external_mcp');

describe('201', () => {
  test('a connected server is linked: active, without approval, STATIC', async () => {
    const server = await startMcpServer(certificate);
    const registered = await registerMcp(app, { name: 'Weather', url: server.url });
    const { publicId } = await makeAgent(app);
    const { status, body } = await link(publicId, registered.publicId);
    expect(status).toBe(201);
    expect(body).toEqual({
      externalMcpPublicId: registered.publicId,
      serverName: 'Weather',
      serverUrl: server.url,
      active: true,
      instanceMode: 'STATIC',
      requiresApproval: false,
    });
    expect(await links(publicId)).toEqual([body]);
    await server.close();
  });

  test.each(['STATIC', 'DYNAMIC'])('with instanceMode %s when the request says so', async (instanceMode) => {
    const { publicId } = await makeAgent(app);
    const { body } = await link(publicId, await storeMcp(app.workspace), { instanceMode });
    expect(body.instanceMode).toBe(instanceMode);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([{ instanceMode: 'static' }, { instanceMode: null }, { externalMcpPublicId: 'x' }, { active: false }])(
    '%j',
    async (fields) => {
      const { publicId } = await makeAgent(app);
      const { status, body } = await link(publicId, await storeMcp(app.workspace), fields);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(await links(publicId)).toEqual([]);
    },
  );
});

describe('409 ALREADY_LINKED', () => {
  test('the link stays unchanged, whatever other fields the request has', async () => {
    const { publicId } = await makeAgent(app);
    const server = await storeMcp(app.workspace);
    const first = await link(publicId, server);
    const { status, body } = await link(publicId, server, { instanceMode: 'DYNAMIC' });
    expect([status, body.code]).toEqual([409, 'ALREADY_LINKED']);
    expect(await links(publicId)).toEqual([first.body]);
  });
});

describe('422 EXTERNAL_MCP_NOT_ACTIVE', () => {
  test.each(['PENDING', 'ERROR', 'PENDING_AUTHORIZATION', 'EXPIRED'] as const)(
    'a server with status %s is not linked',
    async (state) => {
      const { publicId } = await makeAgent(app);
      const server = await storeMcp(app.workspace, {
        status: state,
        error_message: state === 'ERROR' ? 'Gone.' : null,
      });
      const { status, body } = await link(publicId, server);
      expect([status, body.code]).toEqual([422, 'EXTERNAL_MCP_NOT_ACTIVE']);
      expect(await links(publicId)).toEqual([]);
    },
  );
});
