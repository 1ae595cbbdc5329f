import { newId } from '../../core/ids.ts';
import { rememberFact } from '../../db/queries/conversations/memories.ts';
import { makeAgent } from '../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const admin = (...args: string[]) => run(app.database, 'memory', ...args);
const json = (...args: string[]) => adminJson(app.database, 'memory', ...args);

/** A workspace with two agents: both store a fact about Ann, and the first also one about Bob. */
async function knowledge() {
  const workspace = await app.database.seedWorkspace();
  const { workspaceId, db, apiKey } = workspace;
  const [one, two] = [await makeAgent(app, {}, apiKey), await makeAgent(app, {}, apiKey)].map(
    ({ publicId }) => publicId,
  ) as [string, string];
  const know = (agentId: string, externalUserId: string, fact: string, ms: number) =>
    rememberFact(db, workspaceId, { agentId, externalUserId }, fact, new Date(Date.UTC(2026, 0, 1) + ms));
  await know(one, 'ann', 'Likes tea.', 1);
  await know(two, 'ann', 'Has a cat.', 2);
  await know(one, 'bob', 'Likes cake.', 3);
  return { workspaceId, one, two };
}

const WORKSPACE = '019a0000-0000-7000-8000-000000000000';

const facts = (rows: { fact: string }[]) => rows.map(({ fact }) => fact);

test('list shows the facts of agents about an end user, latest first', async () => {
  const { workspaceId, one, two } = await knowledge();
  const args = ['list', '--workspace', workspaceId, '--user', 'ann'];
  expect(await json(...args)).toEqual([
    {
      memoryPublicId: expect.any(String),
      agentPublicId: two,
      fact: 'Has a cat.',
      createdAt: '2026-01-01T00:00:00.002Z',
      updatedAt: '2026-01-01T00:00:00.002Z',
    },
    expect.objectContaining({ agentPublicId: one, fact: 'Likes tea.' }),
  ]);
  expect(facts(await json(...args, '--agent', one))).toEqual(['Likes tea.']);
  const { stdout } = await admin(...args, '--agent', one);
  expect(stdout).toBe(
    `AGENT${' '.repeat(33)}UPDATED${' '.repeat(19)}FACT\n${one}  2026-01-01T00:00:00.001Z  Likes tea.\n`,
  );
});

test('forget erases the facts of one agent or of all agents about one end user only', async () => {
  const { workspaceId, one } = await knowledge();
  const other = await knowledge();
  const ann = ['--workspace', workspaceId, '--user', 'ann'];
  expect(await json('forget', ...ann, '--agent', one)).toEqual({ externalUserId: 'ann', forgotten: 1 });
  expect(facts(await json('list', ...ann))).toEqual(['Has a cat.']);
  expect((await admin('forget', ...ann)).stdout).toBe('1 fact is forgotten\n');
  expect((await admin('forget', ...ann)).stdout).toBe('0 facts are forgotten\n');
  expect(await json('list', ...ann)).toEqual([]);
  expect(facts(await json('list', '--workspace', workspaceId, '--user', 'bob'))).toEqual(['Likes cake.']);
  expect(await json('list', '--workspace', other.workspaceId, '--user', 'ann')).toHaveLength(2);
});

test('forget needs an existing workspace', async () => {
  const id = newId();
  expect(await admin('forget', '--workspace', id, '--user', 'ann')).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: There is no workspace ${id}\n`,
  });
});

test.each([
  [['list', '--user', 'ann'], '--workspace is missing'],
  [['forget', '--workspace', WORKSPACE], '--user is missing'],
  [['forget', '--workspace', WORKSPACE, '--user', ' '], '--user must have 1 to 255 characters'],
  [['forget', '--workspace', WORKSPACE, '--user', 'ann', '--agent', 'all'], '--agent must be a UUID'],
])('%j is a usage error', async (args, reason) => {
  const { code, stderr } = await admin(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});
