import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { readMcp, storeMcp } from '../../support/mcpApi.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unlink = (agentId: string, serverId: string) => app.api('delete', `/agents/${agentId}/external-mcps/${serverId}`);
const link = (agentId: string, externalMcpPublicId: string, key?: string) =>
  app.api('post', `/agents/${agentId}/external-mcps`, key).send({ externalMcpPublicId });
const links = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/external-mcps`, key)).body;

async function linked() {
  const { publicId } = await makeReadyAgent(app);
  const server = await storeMcp(app.workspace);
  await link(publicId, server).expect(201);
  return { agentId: publicId, server };
}

describe('204', () => {
  test('the link is gone, the server and its other links stay', async () => {
    const { agentId, server } = await linked();
    const other = await makeAgent(app);
    await link(other.publicId, server).expect(201);
    await unlink(agentId, server).expect(204);
    expect(await links(agentId)).toEqual([]);
    expect(await links(other.publicId)).toHaveLength(1);
    expect((await readMcp(app, server)).status).toBe('CONNECTED');
    await link(agentId, server).expect(201);
  });

  test('that is an unpublished change', async () => {
    const { agentId, server } = await linked();
    await publish(app, agentId);
    await unlink(agentId, server).expect(204);
    expect((await readAgent(app, agentId)).hasUnpublishedChanges).toBe(true);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist, and keeps its link", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const server = await storeMcp(app.stranger);
    await link(foreign.publicId, server, app.stranger.apiKey).expect(201);
    const missing = await unlink(newId(), server);
    const { status, body } = await unlink(foreign.publicId, server);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await links(foreign.publicId, app.stranger.apiKey)).toHaveLength(1);
  });
});

describe('404 EXTERNAL_MCP_NOT_FOUND', () => {
  test("another workspace's server answers as one that does not exist", async () => {
    const { agentId } = await linked();
    const missing = await unlink(agentId, newId());
    const { status, body } = await unlink(agentId, await storeMcp(app.stranger));
    expect([status, body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await links(agentId)).toHaveLength(1);
  });
});

describe('404 NOT_LINKED', () => {
  test('a server that exists and is not linked to this agent', async () => {
    const { agentId, server } = await linked();
    const other = await linked();
    const { status, body } = await unlink(agentId, other.server);
    expect([status, body.code]).toEqual([404, 'NOT_LINKED']);
    expect(await links(other.agentId)).toHaveLength(1);
    await unlink(agentId, server).expect(204);
    expect((await unlink(agentId, server)).body.code).toBe('NOT_LINKED');
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent cannot be unlinked', async () => {
    const { agentId, server } = await linked();
    await setStatus(app.workspace, agentId, 'archived');
    const { status, body } = await unlink(agentId, server);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
