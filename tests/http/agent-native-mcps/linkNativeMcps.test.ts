import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectBuiltin, connectRemote, linkedIds } from '../../support/tools/toolkits.ts';

let app: TestApp;
let registry: ToolkitRegistry;
let time: string;
const clock = new TestClock();

beforeAll(async () => {
  registry = await startToolkitRegistry();
  app = await startTestApp({ toolkits: { composio: registry.access }, clock });
  time = await connectBuiltin(app.workspace, 'time');
});

afterEach(() => {
  registry.fault = undefined;
});

afterAll(async () => {
  await app.close();
  await registry.close();
});

const link = (agentId: string, connectionPublicIds: unknown, key?: string) =>
  app.api('post', `/agents/${agentId}/native-mcps`, key).send({ connectionPublicIds });
const SKIPPED = 'NOT_FOUND_OR_INACTIVE';

describe('200', () => {
  test('links connections that are ACTIVE, and lists those that are not ACTIVE or unknown', async () => {
    const agent = await makeAgent(app);
    const { id: slack } = await connectRemote(app.workspace, registry);
    const { id: expired } = await connectRemote(app.workspace, registry, { status: 'EXPIRED' });
    const foreign = await connectBuiltin(app.stranger, 'calculator');
    const missing = newId();
    const { status, body } = await link(agent.publicId, [slack, expired, foreign, missing, time]);
    expect(status).toBe(200);
    expect(body).toEqual({
      requested: 5,
      linked: 2,
      skipped: [expired, foreign, missing].map((connectionPublicId) => ({ connectionPublicId, reason: SKIPPED })),
    });
    expect((await linkedIds(app, agent.publicId)).sort()).toEqual([slack, time].sort());
  });

  test('an existing link stays unchanged and counts as linked, whatever the state of its connection', async () => {
    const agent = await makeAgent(app);
    const { id, accountId } = await connectRemote(app.workspace, registry);
    await link(agent.publicId, [id]);
    await app
      .api('patch', `/agents/${agent.publicId}/native-mcps/${id}/instance-mode`)
      .send({ instanceMode: 'DYNAMIC' });
    Object.assign(registry.accounts.find((account) => account.id === accountId) ?? {}, { status: 'EXPIRED' });
    expect((await link(agent.publicId, [id])).body).toEqual({ requested: 1, linked: 1, skipped: [] });
    const { body } = await app.api('get', `/agents/${agent.publicId}/native-mcps`);
    expect(body.connections).toMatchObject([{ publicId: id, status: 'EXPIRED', instanceMode: 'DYNAMIC' }]);
  });

  test('an id that is sent twice counts twice, also in another letter case', async () => {
    const agent = await makeAgent(app);
    const missing = newId().toUpperCase();
    const { body } = await link(agent.publicId, [time, time.toUpperCase(), missing, missing]);
    expect(body).toEqual({
      requested: 4,
      linked: 2,
      skipped: [missing, missing].map((connectionPublicId) => ({ connectionPublicId, reason: SKIPPED })),
    });
    expect(await linkedIds(app, agent.publicId)).toEqual([time]);
    const other = await makeAgent(app);
    expect((await link(other.publicId, [time.toUpperCase()])).body).toEqual({ requested: 1, linked: 1, skipped: [] });
  });

  test('an empty list, and a list of unknown ids only, leave the draft unchanged', async () => {
    const agent = await makeAgent(app);
    clock.advance(1000);
    expect((await link(agent.publicId, [])).body).toEqual({ requested: 0, linked: 0, skipped: [] });
    expect((await link(agent.publicId, [newId()])).body).toMatchObject({ requested: 1, linked: 0 });
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
  });

  test('accepts 50 ids', async () => {
    const agent = await makeAgent(app);
    const made: string[] = [];
    for (let count = 0; count < 50; count += 1) made.push((await connectRemote(app.workspace, registry)).id);
    expect((await link(agent.publicId, made)).body).toEqual({ requested: 50, linked: 50, skipped: [] });
    expect(await linkedIds(app, agent.publicId)).toHaveLength(50);
  });

  test('changes the draft: the links are published and restored with it', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
    await link(agent.publicId, [time]);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    const published = await publish(app, agent.publicId);
    expect(published.hasUnpublishedChanges).toBe(false);
    await app.api('delete', `/agents/${agent.publicId}/native-mcps/${time}`);
    expect(await linkedIds(app, agent.publicId)).toEqual([]);
    const restored = await app.api(
      'post',
      `/agents/${agent.publicId}/versions/${published.publishedVersionNumber}/restore`,
    );
    expect(restored.status).toBe(200);
    expect(await linkedIds(app, agent.publicId)).toEqual([time]);
  });

  test('an archived agent can be linked too', async () => {
    const agent = await makeAgent(app);
    await setStatus(app.workspace, agent.publicId, 'archived');
    expect((await link(agent.publicId, [time])).body).toMatchObject({ linked: 1 });
  });

  test('concurrent requests make one link, and all succeed', async () => {
    const agent = await makeAgent(app);
    const answers = await Promise.all(Array.from({ length: 8 }, () => link(agent.publicId, [time])));
    expect(answers.map(({ status, body }) => [status, body.linked])).toEqual(Array(8).fill([200, 1]));
    expect(await linkedIds(app, agent.publicId)).toEqual([time]);
  });
});

describe('400', () => {
  test.each([
    ['no list', undefined],
    ['51 ids', Array.from({ length: 51 }, newId)],
    ['no id', ['slack']],
    ['null', [null]],
  ])('VALIDATION_ERROR: %s', async (_name, ids) => {
    const agent = await makeAgent(app);
    const { status, body } = await link(agent.publicId, ids);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });
});

describeMissingAgent(
  () => app,
  (agentId) => link(agentId, [time]),
);

describe('404', () => {
  test("AGENT_NOT_FOUND: nothing is linked to another workspace's agent", async () => {
    const theirs = await makeAgent(app, {}, app.stranger.apiKey);
    expect((await link(theirs.publicId, [time])).status).toBe(404);
    expect(
      (await app.api('get', `/agents/${theirs.publicId}/native-mcps`, app.stranger.apiKey)).body.connections,
    ).toEqual([]);
  });
});

describe('502', () => {
  test('TOOLKIT_REGISTRY_UNAVAILABLE: nothing is linked, not even what is built in', async () => {
    const agent = await makeAgent(app);
    const { id } = await connectRemote(app.workspace, registry);
    registry.fault = { silence: true };
    const { status, body } = await link(agent.publicId, [time, id]);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
    expect((await link(agent.publicId, [time])).body).toMatchObject({ linked: 1 });
  });
});
