import { newId } from '../../../core/ids.ts';
import { makeAgent, readAgent, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectBuiltin, connectRemote, linkedIds, linkNative } from '../../support/tools/toolkits.ts';

let app: TestApp;
let registry: ToolkitRegistry;
let time: string;

beforeAll(async () => {
  registry = await startToolkitRegistry();
  app = await startTestApp({ toolkits: { composio: registry.access } });
  time = await connectBuiltin(app.workspace, 'time');
});

afterEach(() => {
  registry.fault = undefined;
});

afterAll(async () => {
  await app.close();
  await registry.close();
});

const unlink = (agentId: string, id: string, key?: string) =>
  app.api('delete', `/agents/${agentId}/native-mcps/${id}`, key);

describe('204', () => {
  test('removes the link of this agent only, and the connection can be linked again', async () => {
    const [agent, other] = [await makeAgent(app), await makeAgent(app)];
    const { id } = await connectRemote(app.workspace, registry, { status: 'ACTIVE' });
    for (const { publicId } of [agent, other]) await linkNative(app, publicId, [time, id]);
    expect((await unlink(agent.publicId, id)).status).toBe(204);
    expect(await linkedIds(app, agent.publicId)).toEqual([time]);
    expect((await linkedIds(app, other.publicId)).sort()).toEqual([time, id].sort());
    const { body } = await app.api('get', `/agents/${agent.publicId}/native-mcps/available`);
    expect(body.connections.map(({ publicId }: { publicId: string }) => publicId)).toContain(id);
    await linkNative(app, agent.publicId, [id]);
  });

  test('also unlinks a connection that is no longer ACTIVE, by an id in upper case', async () => {
    const agent = await makeAgent(app);
    const { id, accountId } = await connectRemote(app.workspace, registry);
    await linkNative(app, agent.publicId, [id]);
    registry.accounts = registry.accounts.filter((account) => account.id !== accountId);
    expect((await unlink(agent.publicId, id.toUpperCase())).status).toBe(204);
    expect(await linkedIds(app, agent.publicId)).toEqual([]);
  });

  test('also unlinks a built-in connection while the registry is unavailable', async () => {
    const agent = await makeAgent(app);
    await linkNative(app, agent.publicId, [time]);
    registry.fault = { status: 500 };
    expect((await unlink(agent.publicId, time)).status).toBe(204);
  });
});

describeMissingAgent(
  () => app,
  (agentId) => unlink(agentId, time),
);

describe('404', () => {
  test('NATIVE_MCP_CONNECTION_NOT_FOUND: a connection that is not linked, unknown, another workspace’s, or already unlinked', async () => {
    const agent = await makeAgent(app);
    const foreign = await connectBuiltin(app.stranger, 'calculator');
    const answers = [await unlink(agent.publicId, time), await unlink(agent.publicId, newId())];
    answers.push(await unlink(agent.publicId, foreign));
    for (const { status, body } of answers) {
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'NATIVE_MCP_CONNECTION_NOT_FOUND' });
      expect(withoutRequestId(body)).toEqual(withoutRequestId(answers[0]?.body));
    }
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
    await linkNative(app, agent.publicId, [time]);
    const twice = await Promise.all([unlink(agent.publicId, time), unlink(agent.publicId, time)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe('502', () => {
  test('TOOLKIT_REGISTRY_UNAVAILABLE: the connection stays linked', async () => {
    const agent = await makeAgent(app);
    const { id } = await connectRemote(app.workspace, registry);
    await linkNative(app, agent.publicId, [id]);
    registry.fault = { hangUp: true };
    const { status, body } = await unlink(agent.publicId, id);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
    registry.fault = undefined;
    expect(await linkedIds(app, agent.publicId)).toEqual([id]);
  });
});
