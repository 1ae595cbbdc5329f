import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { storeMcp } from '../../support/mcpApi.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (agentId: string) => app.api('get', `/agents/${agentId}/external-mcps`);

describe('200', () => {
  test('all links of the agent, the one linked last first, active or not, by the names of now', async () => {
    const { publicId } = await makeAgent(app);
    const other = await makeAgent(app);
    const path = (agentId: string) => `/agents/${agentId}/external-mcps`;
    const ids = [await storeMcp(app.workspace), await storeMcp(app.workspace), await storeMcp(app.workspace)];
    for (const id of [ids[1], ids[0]])
      await app.api('post', path(publicId)).send({ externalMcpPublicId: id }).expect(201);
    await app.api('post', path(other.publicId)).send({ externalMcpPublicId: ids[2] }).expect(201);
    await app
      .api('patch', `${path(publicId)}/${ids[1]}`)
      .send({ active: false })
      .expect(200);
    await app.api('patch', `/external-mcps/${ids[1]}`).send({ name: 'New name' }).expect(200);
    const { status, body } = await list(publicId);
    expect(status).toBe(200);
    expect(body).toEqual([
      expect.objectContaining({ externalMcpPublicId: ids[0], active: true }),
      expect.objectContaining({ externalMcpPublicId: ids[1], active: false, serverName: 'New name' }),
    ]);
  });

  test('none at first', async () => {
    const { publicId } = await makeAgent(app);
    expect((await list(publicId)).body).toEqual([]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const missing = await list(newId());
    const { status, body } = await list(foreign.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no links to list', async () => {
    const { publicId } = await makeAgent(app);
    await setStatus(app.workspace, publicId, 'archived');
    const { status, body } = await list(publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
