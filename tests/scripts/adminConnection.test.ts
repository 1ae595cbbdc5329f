import { newId } from '../../core/ids.ts';
import { makeReadyAgent, publish, readAgent } from '../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';
import { linkedIds, linkNative } from '../support/tools/toolkits.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});

afterAll(() => app.close());

const admin = (...args: string[]) => run(app.database, 'connection', ...args);
const json = (...args: string[]) => adminJson(app.database, 'connection', ...args);

describe('add', () => {
  test('makes connections of both providers, and list shows them newest first', async () => {
    const { workspaceId } = await app.database.seedWorkspace();
    const time = await json('add', '--workspace', workspaceId, '--toolkit', 'time');
    expect(time).toEqual({
      connectionPublicId: expect.any(String),
      workspacePublicId: workspaceId,
      name: 'Time',
      provider: 'builtin',
      toolkitSlug: 'time',
      externalId: null,
    });
    const account = [
      '--workspace',
      workspaceId,
      '--toolkit',
      'slack',
      '--external-id',
      'ca_1',
      '--name',
      'Support Slack',
    ];
    const slack = await json('add', ...account);
    expect(slack).toMatchObject({
      name: 'Support Slack',
      provider: 'composio',
      toolkitSlug: 'slack',
      externalId: 'ca_1',
    });
    const listed = await json('list', '--workspace', workspaceId);
    expect(listed).toEqual(
      [slack, time].map(({ workspacePublicId: _workspace, ...rest }) => ({ ...rest, createdAt: expect.any(String) })),
    );
    const { stdout } = await admin('list', '--workspace', workspaceId);
    expect(stdout).toMatch(/^CONNECTION +PROVIDER +TOOLKIT +ACCOUNT +NAME\n.* composio +slack +ca_1 +Support Slack$/ms);
  });

  test('refuses a second connection to the same account until the first is removed', async () => {
    const { workspaceId } = await app.database.seedWorkspace();
    const other = await app.database.seedWorkspace();
    const args = ['--workspace', workspaceId, '--toolkit', 'calculator'];
    const { connectionPublicId } = await json('add', ...args);
    expect(await admin('add', ...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: The workspace already has this connection to calculator\n',
    });
    await json('add', '--workspace', other.workspaceId, '--toolkit', 'calculator');
    await json('remove', '--workspace', workspaceId, connectionPublicId);
    await json('add', ...args);
    await json('add', '--workspace', workspaceId, '--toolkit', 'slack', '--external-id', 'ca_1');
    await json('add', '--workspace', workspaceId, '--toolkit', 'slack', '--external-id', 'ca_2');
    expect(await json('list', '--workspace', workspaceId)).toHaveLength(3);
  });

  test('needs an existing workspace', async () => {
    const id = newId();
    expect((await admin('add', '--workspace', id, '--toolkit', 'time')).stderr).toBe(
      `error: There is no workspace ${id}\n`,
    );
  });

  test.each([
    [['--toolkit', 'slack'], '--toolkit must be one of time, calculator, http_fetch, workspace'],
    [['--toolkit', 'slack', '--provider', 'composio'], '--external-id is missing'],
    [
      ['--toolkit', 'time', '--provider', 'builtin', '--external-id', 'ca_1'],
      '--external-id is not allowed for a built-in toolkit',
    ],
    [['--toolkit', 'slack', '--provider', 'zapier', '--external-id', 'ca_1'], '--provider must be builtin or composio'],
    [['--toolkit', 'a/b', '--external-id', 'ca_1'], '--toolkit may have letters, digits'],
    [['--toolkit', 'slack', '--external-id', 'ca_1,ca_2'], '--external-id may have letters, digits'],
    [['--toolkit', 'time', '--name', ' '], '--name must have 1 to 255 characters'],
    [[], '--toolkit is missing'],
  ])('%j is a usage error', async (args, reason) => {
    const { code, stderr } = await admin('add', '--workspace', newId(), ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
  });
});

describe('remove', () => {
  test('removes the connection from every draft, and published versions keep it', async () => {
    const { workspaceId, apiKey } = app.workspace;
    const { connectionPublicId: id } = await json('add', '--workspace', workspaceId, '--toolkit', 'time');
    const [published, draft] = [await makeReadyAgent(app), await makeReadyAgent(app)];
    for (const { publicId } of [published, draft]) await linkNative(app, publicId, [id]);
    const { publishedVersionNumber } = await publish(app, published.publicId);
    expect(await json('remove', '--workspace', workspaceId, id)).toEqual({ connectionPublicId: id, removed: true });
    for (const { publicId } of [published, draft]) expect(await linkedIds(app, publicId)).toEqual([]);
    expect((await readAgent(app, published.publicId)).hasUnpublishedChanges).toBe(true);
    const { body } = await app.api('get', `/agents/${published.publicId}/native-mcps/available`, apiKey);
    expect(body.connections).toEqual([]);
    // A restoration leaves out connections that were deleted since.
    const version = `/agents/${published.publicId}/versions/${publishedVersionNumber}/restore`;
    expect((await app.api('post', version)).status).toBe(200);
    expect(await linkedIds(app, published.publicId)).toEqual([]);
  });

  test('stores the same digest of the draft as the service', async () => {
    const { workspaceId } = app.workspace;
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    const { connectionPublicId: id } = await json('add', '--workspace', workspaceId, '--toolkit', 'http_fetch');
    await linkNative(app, agent.publicId, [id]);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    await json('remove', '--workspace', workspaceId, id);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
  });

  test('of an unknown connection, or another workspace’s, exits with 1', async () => {
    const { connectionPublicId: theirs } = await json(
      'add',
      '--workspace',
      app.stranger.workspaceId,
      '--toolkit',
      'time',
    );
    for (const id of [newId(), theirs])
      expect(await admin('remove', '--workspace', app.workspace.workspaceId, id)).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: Workspace ${app.workspace.workspaceId} has no connection ${id}\n`,
      });
    expect(await json('list', '--workspace', app.stranger.workspaceId)).toHaveLength(1);
  });
});
