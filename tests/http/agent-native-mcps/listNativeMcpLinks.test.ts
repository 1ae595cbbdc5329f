import { makeAgent, setStatus } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectBuiltin, connectRemote, linkedIds, linkNative } from '../../support/tools/toolkits.ts';

let app: TestApp;
let registry: ToolkitRegistry;

beforeAll(async () => {
  registry = await startToolkitRegistry();
  app = await startTestApp({ toolkits: { composio: registry.access } });
});

afterEach(() => {
  registry.fault = undefined;
});

afterAll(async () => {
  await app.close();
  await registry.close();
});

const list = (agentId: string, key?: string) => app.api('get', `/agents/${agentId}/native-mcps`, key);

describe('200', () => {
  test('lists every link with the current state of its connection, latest link first', async () => {
    const agent = await makeAgent(app);
    expect((await list(agent.publicId)).body).toEqual({ connections: [] });
    const time = await connectBuiltin(app.workspace, 'time', 'Clock');
    const { id: slack, accountId } = await connectRemote(app.workspace, registry, { name: 'Support Slack' });
    await linkNative(app, agent.publicId, [time]);
    await linkNative(app, agent.publicId, [slack]);
    const account = registry.accounts.find(({ id }) => id === accountId);
    Object.assign(account ?? {}, { status: 'EXPIRED' });
    const { status, body } = await list(agent.publicId);
    expect(status).toBe(200);
    expect(body).toEqual({
      connections: [
        {
          publicId: slack,
          name: 'Support Slack',
          status: 'EXPIRED',
          instanceMode: 'STATIC',
          toolkitSlug: 'slack',
          toolkitName: 'Slack',
          toolkitIconUrl: 'https://logos.example.com/slack.svg',
        },
        {
          publicId: time,
          name: 'Clock',
          status: 'ACTIVE',
          instanceMode: 'STATIC',
          toolkitSlug: 'time',
          toolkitName: 'Time',
          toolkitIconUrl: null,
        },
      ],
    });
  });

  test('lists the links of an archived agent too', async () => {
    const agent = await makeAgent(app);
    const { id } = await connectRemote(app.workspace, registry);
    await linkNative(app, agent.publicId, [id]);
    await setStatus(app.workspace, agent.publicId, 'archived');
    expect(await linkedIds(app, agent.publicId)).toEqual([id]);
  });

  test('built-in connections are listed while the registry is unavailable', async () => {
    const agent = await makeAgent(app);
    const calculator = await connectBuiltin(app.workspace, 'calculator');
    await linkNative(app, agent.publicId, [calculator]);
    registry.fault = { hangUp: true };
    expect(await linkedIds(app, agent.publicId)).toEqual([calculator]);
  });
});

describeMissingAgent(
  () => app,
  (agentId) => list(agentId),
);

describe('502', () => {
  test.each([
    { silence: true } as const,
    { hangUp: true } as const,
    { status: 500 },
    { status: 401 },
    { body: 'garbage' },
  ])('TOOLKIT_REGISTRY_UNAVAILABLE: the registry fails with %j', async (fault) => {
    const agent = await makeAgent(app);
    const { id } = await connectRemote(app.workspace, registry);
    await linkNative(app, agent.publicId, [id]);
    registry.fault = fault;
    const { status, body } = await list(agent.publicId);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
    expect(JSON.stringify(body)).not.toContain('secret detail');
  });

  test('TOOLKIT_REGISTRY_UNAVAILABLE: the registry is no longer configured', async () => {
    const agent = await makeAgent(app);
    const { id } = await connectRemote(app.workspace, registry);
    await linkNative(app, agent.publicId, [id]);
    const without = await startTestApp({ database: app.database });
    const { status, body } = await without.api('get', `/agents/${agent.publicId}/native-mcps`, app.workspace.apiKey);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
    await without.close();
  });
});
