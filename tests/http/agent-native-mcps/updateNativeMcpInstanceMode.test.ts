import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectBuiltin, connectRemote, linkNative } from '../../support/tools/toolkits.ts';

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

const update = (agentId: string, id: string, body: object = { instanceMode: 'DYNAMIC' }, key?: string) =>
  app.api('patch', `/agents/${agentId}/native-mcps/${id}/instance-mode`, key).send(body);

async function modeOf(agentId: string): Promise<string> {
  return (await app.api('get', `/agents/${agentId}/native-mcps`)).body.connections[0].instanceMode;
}

describe('200', () => {
  test('sets the mode for this agent alone, in its draft', async () => {
    const [agent, other] = [await makeReadyAgent(app), await makeAgent(app)];
    for (const { publicId } of [agent, other]) await linkNative(app, publicId, [time]);
    await publish(app, agent.publicId);
    const { status, body } = await update(agent.publicId, time);
    expect(status).toBe(200);
    expect(body).toEqual({ connectionPublicId: time, instanceMode: 'DYNAMIC' });
    expect(await modeOf(agent.publicId)).toBe('DYNAMIC');
    expect(await modeOf(other.publicId)).toBe('STATIC');
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    expect((await update(agent.publicId, time, { instanceMode: 'STATIC' })).body.instanceMode).toBe('STATIC');
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
  });

  test('also for a connection that is no longer ACTIVE', async () => {
    const agent = await makeAgent(app);
    const { id, accountId } = await connectRemote(app.workspace, registry);
    await linkNative(app, agent.publicId, [id]);
    Object.assign(registry.accounts.find((account) => account.id === accountId) ?? {}, { status: 'EXPIRED' });
    expect((await update(agent.publicId, id)).status).toBe(200);
  });
});

describe('400', () => {
  test.each([{}, { instanceMode: 'LAZY' }, { instanceMode: null }, { instanceMode: 'STATIC', active: true }])(
    'VALIDATION_ERROR: %j',
    async (body) => {
      const agent = await makeAgent(app);
      await linkNative(app, agent.publicId, [time]);
      expect((await update(agent.publicId, time, body)).body.code).toBe('VALIDATION_ERROR');
      expect(await modeOf(agent.publicId)).toBe('STATIC');
    },
  );
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an unknown agent, or one of another workspace', async () => {
    const theirs = await makeAgent(app, {}, app.stranger.apiKey);
    const foreign = await update(theirs.publicId, time);
    const missing = await update(newId(), time);
    expect(foreign.body.code).toBe('AGENT_NOT_FOUND');
    expect(withoutRequestId(foreign.body)).toEqual(withoutRequestId(missing.body));
  });

  test('NATIVE_MCP_CONNECTION_NOT_FOUND: a connection that is not linked, unknown, or another workspace’s', async () => {
    const agent = await makeAgent(app);
    const foreign = await connectBuiltin(app.stranger, 'calculator');
    const missing = await update(agent.publicId, newId());
    expect({ status: missing.status, code: missing.body.code }).toEqual({
      status: 404,
      code: 'NATIVE_MCP_CONNECTION_NOT_FOUND',
    });
    for (const id of [time, foreign])
      expect(withoutRequestId((await update(agent.publicId, id)).body)).toEqual(withoutRequestId(missing.body));
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
  });
});

describe('502', () => {
  test('TOOLKIT_REGISTRY_UNAVAILABLE: the mode stays as it is', async () => {
    const agent = await makeAgent(app);
    const { id } = await connectRemote(app.workspace, registry);
    await linkNative(app, agent.publicId, [id]);
    registry.fault = { status: 429 };
    const { status, body } = await update(agent.publicId, id);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
    registry.fault = undefined;
    expect(await modeOf(agent.publicId)).toBe('STATIC');
  });
});
