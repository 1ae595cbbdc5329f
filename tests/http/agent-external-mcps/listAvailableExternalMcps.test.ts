import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { storeMcp } from '../../support/mcpApi.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const available = (agentId: string, key?: string) => app.api('get', `/agents/${agentId}/external-mcps/available`, key);

describe('200', () => {
  test('the connected servers that are not linked to this agent, newest first', async () => {
    const seeded = await app.database.seedWorkspace();
    const { apiKey } = seeded;
    const { publicId } = await makeAgent(app, {}, apiKey);
    const other = await makeAgent(app, {}, apiKey);
    const at = (second: number) => ({ created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)) });
    const old = await storeMcp(seeded, { name: 'Old', description: 'Tells the weather', ...at(1) });
    const linked = await storeMcp(seeded, { name: 'Linked', ...at(2) });
    const elsewhere = await storeMcp(seeded, { name: 'Linked elsewhere', ...at(3) });
    await storeMcp(seeded, { name: 'Pending', status: 'PENDING', ...at(4) });
    await storeMcp(seeded, { name: 'Failed', status: 'ERROR', error_message: 'Gone.', ...at(5) });
    const deleted = await storeMcp(seeded, { name: 'Deleted', ...at(6) });
    await app.api('delete', `/external-mcps/${deleted}`, apiKey).expect(204);
    await storeMcp(app.stranger, { name: 'Foreign' });
    const link = (agentId: string, externalMcpPublicId: string) =>
      app.api('post', `/agents/${agentId}/external-mcps`, apiKey).send({ externalMcpPublicId }).expect(201);
    await link(publicId, linked);
    await link(other.publicId, elsewhere);
    const { status, body } = await available(publicId, apiKey);
    expect(status).toBe(200);
    const url = 'https://mcp.example.com/mcp';
    expect(body).toEqual([
      { publicId: elsewhere, name: 'Linked elsewhere', description: null, url, status: 'CONNECTED' },
      { publicId: old, name: 'Old', description: 'Tells the weather', url, status: 'CONNECTED' },
    ]);
    for (const each of body) await link(publicId, each.publicId);
    expect((await available(publicId, apiKey)).body).toEqual([]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const missing = await available(newId());
    const { status, body } = await available(foreign.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent can be linked to nothing', async () => {
    const { publicId } = await makeAgent(app);
    await setStatus(app.workspace, publicId, 'archived');
    const { status, body } = await available(publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
