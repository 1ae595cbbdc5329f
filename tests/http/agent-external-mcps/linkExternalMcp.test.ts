import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startMcpServer, useCertificate } from '../../support/mcp.ts';
import { registerMcp, storeMcp } from '../../support/mcpApi.ts';

const certificate = useCertificate();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(() => app.close());

const link = (agentId: string, externalMcpPublicId: string, fields: object = {}) =>
  app.api('post', `/agents/${agentId}/external-mcps`).send({ externalMcpPublicId, ...fields });
const links = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/external-mcps`, key)).body;

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

  test.each(['STATIC', 'DYNAMIC'])('as %s when told so', async (instanceMode) => {
    const { publicId } = await makeAgent(app);
    const { body } = await link(publicId, await storeMcp(app.workspace), { instanceMode });
    expect(body.instanceMode).toBe(instanceMode);
  });

  test('a link is an unpublished change', async () => {
    const { publicId } = await makeReadyAgent(app);
    await publish(app, publicId);
    await link(publicId, await storeMcp(app.workspace)).expect(201);
    expect((await readAgent(app, publicId)).hasUnpublishedChanges).toBe(true);
    expect((await publish(app, publicId)).hasUnpublishedChanges).toBe(false);
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

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const server = await storeMcp(app.workspace);
    const missing = await link(newId(), server);
    const { status, body } = await link(foreign.publicId, server);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await links(foreign.publicId, app.stranger.apiKey)).toEqual([]);
  });
});

describe('404 EXTERNAL_MCP_NOT_FOUND', () => {
  test("a deleted server and another workspace's answer as one that does not exist", async () => {
    const { publicId } = await makeAgent(app);
    const deleted = await storeMcp(app.workspace);
    await app.api('delete', `/external-mcps/${deleted}`).expect(204);
    const missing = await link(publicId, newId());
    for (const id of [deleted, await storeMcp(app.stranger)]) {
      const { status, body } = await link(publicId, id);
      expect([status, body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
      expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    }
    expect(await links(publicId)).toEqual([]);
  });
});

describe('409 ALREADY_LINKED', () => {
  test('a server is linked to an agent once, and the link stays as it was', async () => {
    const { publicId } = await makeAgent(app);
    const server = await storeMcp(app.workspace);
    const first = await link(publicId, server);
    const { status, body } = await link(publicId, server, { instanceMode: 'DYNAMIC' });
    expect([status, body.code]).toEqual([409, 'ALREADY_LINKED']);
    expect(await links(publicId)).toEqual([first.body]);
  });

  test('of four at the same time one is made', async () => {
    const { publicId } = await makeAgent(app);
    const server = await storeMcp(app.workspace);
    const answers = await Promise.all([1, 2, 3, 4].map(() => link(publicId, server)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await links(publicId)).toHaveLength(1);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent cannot be linked', async () => {
    const { publicId } = await makeAgent(app);
    await setStatus(app.workspace, publicId, 'archived');
    const { status, body } = await link(publicId, await storeMcp(app.workspace));
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
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
