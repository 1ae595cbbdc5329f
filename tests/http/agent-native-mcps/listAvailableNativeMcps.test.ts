import { softDeleteConnection } from '../../../db/queries/tools/nativeConnections.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectBuiltin, connectRemote, linkNative } from '../../support/tools/toolkits.ts';

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

const list = (agentId: string, key?: string) => app.api('get', `/agents/${agentId}/native-mcps/available`, key);

describe('200', () => {
  test('the ACTIVE connections that this agent is not linked to, newest first', async () => {
    const workspace = await app.database.seedWorkspace();
    const agent = await makeAgent(app, {}, workspace.apiKey);
    const other = await makeAgent(app, {}, workspace.apiKey);
    const time = await connectBuiltin(workspace, 'time', 'Clock');
    const calculator = await connectBuiltin(workspace, 'calculator');
    const { id: slack } = await connectRemote(workspace, registry, { name: 'Support Slack' });
    for (const status of ['EXPIRED', 'INITIATED', 'FAILED', 'active'])
      await connectRemote(workspace, registry, { status });
    const gone = await connectRemote(workspace, registry);
    registry.accounts = registry.accounts.filter(({ id }) => id !== gone.accountId);
    const deleted = await connectBuiltin(workspace, 'workspace');
    await softDeleteConnection(workspace.db, workspace.workspaceId, deleted, new Date());
    await connectBuiltin(app.stranger, 'http_fetch');
    await linkNative(app, agent.publicId, [calculator], workspace.apiKey);
    await linkNative(app, other.publicId, [slack], workspace.apiKey);

    const { status, body } = await list(agent.publicId, workspace.apiKey);
    expect(status).toBe(200);
    expect(body).toEqual({
      connections: [
        {
          publicId: slack,
          name: 'Support Slack',
          status: 'ACTIVE',
          instanceMode: null,
          toolkitSlug: 'slack',
          toolkitName: 'Slack',
          toolkitIconUrl: 'https://logos.example.com/slack.svg',
        },
        {
          publicId: time,
          name: 'Clock',
          status: 'ACTIVE',
          instanceMode: null,
          toolkitSlug: 'time',
          toolkitName: 'Time',
          toolkitIconUrl: null,
        },
      ],
    });
  });

  test('the registry is not asked for a workspace without connections of it', async () => {
    const agent = await makeAgent(app, {}, app.stranger.apiKey);
    registry.fault = { status: 500 };
    expect((await list(agent.publicId, app.stranger.apiKey)).status).toBe(200);
  });
});

describeMissingAgent(
  () => app,
  (agentId) => list(agentId),
);

describe('502', () => {
  test('TOOLKIT_REGISTRY_UNAVAILABLE: the states cannot be read', async () => {
    const agent = await makeAgent(app);
    await connectRemote(app.workspace, registry);
    registry.fault = { status: 503 };
    const { status, body } = await list(agent.publicId);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
  });
});
