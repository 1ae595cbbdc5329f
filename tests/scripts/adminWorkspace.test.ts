import { hasApiKeyChecksum, hashApiKey, isApiKeyFormat } from '../../core/apiKey.ts';
import { newId } from '../../core/ids.ts';
import { findApiKeysByHash } from '../../db/queries/workspaces/apiKeys.ts';
import { takeFromQuota } from '../../db/queries/workspaces/quota.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { admin as run } from '../support/scripts/admin.ts';

let setting: TestDatabase;

beforeAll(async () => {
  setting = await createTestDatabase();
});
afterAll(() => setting.drop());

const admin = (...args: string[]) => run(setting, 'workspace', ...args);

/** The JSON output of a command that must succeed: exactly one line. */
async function json(...args: string[]) {
  const { code, stdout, stderr } = await admin(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout);
}

const listed = async (id: string) =>
  (await json('list')).find((row: { workspacePublicId: string }) => row.workspacePublicId === id);

/** The fields of a workspace that is created with a name only. */
const PLAIN = {
  name: 'Acme',
  timeZone: 'UTC',
  approvalsBy: 'default',
  agentLimit: null,
  operationLimit: null,
  toolLimit: 500,
  skillLimit: 500,
  externalMcpLimit: 100,
  knowledgeSourceLimit: 2000,
  automationLimit: 1000,
  storageLimit: 10 * 1024 ** 3,
  requestLimit: 256,
  turnLimit: 1000,
  backgroundLimit: 256,
};

describe('create', () => {
  test('prints the ids and a valid key, and list shows the workspace', async () => {
    const limits = ['--agent-limit', '3', '--operation-limit', '50', '--tool-limit', '7'];
    const created = await json('create', 'Acme', ...limits, '--time-zone', 'America/Sao_Paulo');
    expect(Object.keys(created)).toEqual(['workspacePublicId', 'apiKeyPublicId', 'apiKey']);
    expect(isApiKeyFormat(created.apiKey) && hasApiKeyChecksum(created.apiKey)).toBe(true);
    expect(await findApiKeysByHash(setting.database.system, [hashApiKey(created.apiKey)])).toMatchObject([
      { id: created.apiKeyPublicId, workspace_id: created.workspacePublicId },
    ]);
    expect(await listed(created.workspacePublicId)).toEqual({
      ...PLAIN,
      workspacePublicId: created.workspacePublicId,
      name: 'Acme',
      timeZone: 'America/Sao_Paulo',
      agentLimit: 3,
      operationLimit: 50,
      toolLimit: 7,
      createdAt: expect.any(String),
    });
  });

  test('needs a name only', async () => {
    const { workspacePublicId } = await json('create', 'Acme');
    expect(await listed(workspacePublicId)).toMatchObject(PLAIN);
  });

  test('prints text without --json', async () => {
    const { stdout } = await admin('create', 'For people', '--time-zone', 'Asia/Kolkata');
    expect(stdout).toMatch(/^workspace [0-9a-f-]{36}\nkey {7}[0-9a-f-]{36}\ngsk_\w{40}\nKeep this key/);
    const list = (await admin('list')).stdout;
    expect(list).toMatch(/^WORKSPACE +CREATED +TIME ZONE +NAME\n.*Asia\/Kolkata +For people$/ms);
  });
});

describe('update', () => {
  let id: string;
  beforeEach(async () => {
    id = (await json('create', 'Acme')).workspacePublicId;
  });

  test('changes the given options and nothing else', async () => {
    const before = await listed(id);
    for (const [args, change] of [
      [['--time-zone', 'europe/berlin'], { timeZone: 'Europe/Berlin' }],
      [['--operation-limit', '100', '--agent-limit', '0'], { operationLimit: 100, agentLimit: 0 }],
      [['--tool-limit', '9'], { toolLimit: 9 }],
      [['--storage-limit', '20000000000', '--skill-limit', '1'], { storageLimit: 20_000_000_000, skillLimit: 1 }],
      [['--mcp-limit', '2', '--knowledge-limit', '3'], { externalMcpLimit: 2, knowledgeSourceLimit: 3 }],
      [['--request-limit', '4', '--turn-limit', '5'], { requestLimit: 4, turnLimit: 5 }],
      [['--background-limit', '6'], { backgroundLimit: 6 }],
      [['--name', 'Acme Ltd'], { name: 'Acme Ltd' }],
      [['--operation-limit', 'none'], { operationLimit: null }],
      [['--agent-limit', 'none'], { agentLimit: null }],
    ] as const) {
      Object.assign(before, change);
      expect(await json('update', id, ...args)).toEqual(before);
      expect(await listed(id)).toEqual(before);
    }
    expect((await admin('update', id, '--name', 'X')).stdout).toBe(`workspace ${id} is changed\n`);
  });

  test('does not change other workspaces', async () => {
    const { workspacePublicId: other } = await json('create', 'Acme');
    await json('update', id, '--name', 'X', '--operation-limit', '1', '--time-zone', 'Asia/Tokyo');
    expect(await listed(other)).toMatchObject(PLAIN);
  });

  test('a limit that is set again counts the operations of the time without a limit', async () => {
    const db = setting.database.forWorkspace(id);
    const take = () => takeFromQuota(db, id, new Date());
    const message = async () => {
      const [agent, conversation] = [newId(), newId()];
      await db.insertInto('agents').values({ workspace_id: id, id: agent, name: agent }).execute();
      await db
        .insertInto('conversations')
        .values({ workspace_id: id, id: conversation, agent_id: agent, external_user_id: 'x' })
        .execute();
      await db
        .insertInto('messages')
        .values({
          workspace_id: id,
          id: newId(),
          conversation_id: conversation,
          role: 'assistant',
          content: 'Hi.',
          cost_ops: 1,
        })
        .execute();
    };
    await json('update', id, '--operation-limit', '2');
    expect(await take()).toBe(true);
    await message();
    await json('update', id, '--operation-limit', 'none');
    expect(await take()).toBe(true);
    await message();
    await json('update', id, '--operation-limit', '3');
    expect([await take(), await take()]).toEqual([true, false]);
    // A change of the limit does not reset the count.
    await json('update', id, '--operation-limit', '4');
    expect([await take(), await take()]).toEqual([true, false]);
  });

  test('of an unknown or deleted workspace exits with 1', async () => {
    const nobody = newId();
    await setting.database.system
      .updateTable('workspaces')
      .set({ deleted_at: new Date() })
      .where('id', '=', id)
      .execute();
    for (const missing of [nobody, id]) {
      expect(await admin('update', missing, '--name', 'X')).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: There is no workspace ${missing}\n`,
      });
    }
  });
});

describe('show', () => {
  test('tells the limits, and what of them is used', async () => {
    const { workspacePublicId: id } = await json('create', 'Acme', '--agent-limit', '2', '--storage-limit', '500');
    const db = setting.database.forWorkspace(id);
    const agent = { workspace_id: id, id: newId(), name: 'Ada' };
    await db.insertInto('agents').values(agent).execute();
    const source = (size_bytes: number, more = {}) => ({
      workspace_id: id,
      id: newId(),
      name: 'Notes',
      source_type: 'TEXT_INPUT' as const,
      file_kind: 'markdown' as const,
      size_bytes,
      ...more,
    });
    const [deleted_at, purged_at] = [new Date(), new Date()];
    const sources = [source(100), source(20, { deleted_at }), source(3, { deleted_at, purged_at })];
    await db.insertInto('knowledge_sources').values(sources).execute();
    expect(await json('show', id)).toEqual({
      ...(await listed(id)),
      used: {
        agents: 1,
        tools: 0,
        skills: 0,
        externalMcps: 0,
        knowledgeSources: 1,
        automations: 0,
        storageBytes: 120,
        operations: 0,
      },
    });
    const { stdout } = await admin('show', id);
    expect(stdout).toMatch(/^agents +1 +2$/m);
    expect(stdout).toMatch(/^bytes of stored files +120 +500$/m);
    expect(stdout).toMatch(/^operations of this month +0 +none$/m);
  });

  test('of an unknown workspace exits with 1', async () => {
    const id = newId();
    expect(await admin('show', id)).toMatchObject({ code: 1, stderr: `error: There is no workspace ${id}\n` });
  });
});

test.each([
  [['update', newId()], 'Give at least one option to change'],
  [['update', 'x', '--name', 'X'], 'ID must be a UUID'],
  [['update', newId(), '--name', ' '], '--name must have 1 to 200 characters'],
  [['update', newId(), '--tool-limit', 'none'], '--tool-limit must be a whole number'],
  [['update', newId(), '--background-limit', '0'], '--background-limit must be a whole number'],
  [['update', newId(), '--storage-limit', '1e30'], '--storage-limit must be a whole number'],
  [['show', 'x'], 'ID must be a UUID'],
  [['update', newId(), '--operation-limit', '1.5'], '--operation-limit must be a whole number'],
  [['create', 'X', '--operation-limit', 'none'], '--operation-limit must be a whole number'],
  ...['Mars/Olympus', '+02:00', 'UTC+2', '', ' ', `A${'a'.repeat(50)}`].flatMap((zone) => [
    [['create', 'X', '--time-zone', zone], '--time-zone must be an IANA name'] as const,
    [['update', newId(), '--time-zone', zone], '--time-zone must be an IANA name'] as const,
  ]),
] as const)('%j is a usage error', async (args, message) => {
  const { code, stderr } = await admin(...args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});
