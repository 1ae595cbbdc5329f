import { newId } from '../../core/ids.ts';
import { approvalDecided } from '../../db/events.ts';
import { beginConversation } from '../../db/queries/turns/beginConversation.ts';
import { finishTurn } from '../../db/queries/turns/finishTurn.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';
import { pausedState, turnEnd, turnStart } from '../support/turns/storedTurns.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const admin = (...args: string[]) => run(database, 'approval', ...args);
const json = (...args: string[]) => adminJson(database, 'approval', ...args);

const REQUESTED = new Date('2026-03-01T12:00:00.123Z');

/** Makes a waiting call in a new conversation. */
async function asked(of?: SeededWorkspace, input: Record<string, unknown> = { city: 'Oslo' }, now = REQUESTED) {
  const { workspaceId, db } = of ?? (await database.seedWorkspace());
  const [agentId, conversationId, turnId, id] = [newId(), newId(), newId(), newId()];
  await db
    .insertInto('agents')
    .values({ workspace_id: workspaceId, id: agentId, name: `Agent ${agentId}` })
    .execute();
  const start = turnStart({ workspaceId, conversationId, agentId, turnId, now });
  await beginConversation(db, start, { externalUserId: 'ann', isTest: false, metadata: {} });
  const origin = { kind: 'http_tool' as const, id: newId(), operationId: null };
  const approvals = [{ id, agent_id: agentId, tool_name: 'pay', origin, input }];
  await finishTurn(db, start, turnEnd('May I?', { now, paused: { state: pausedState(agentId), approvals } }));
  return { workspaceId, db, agentId, conversationId, turnId, id };
}

test('list shows the waiting calls of all workspaces or of one, oldest first', async () => {
  const workspace = await database.seedWorkspace();
  const later = await asked(workspace, { city: 'Rome' }, new Date('2026-03-02T12:00:00Z'));
  const first = await asked(workspace);
  const elsewhere = await asked();
  const ids = (rows: { approvalPublicId: string }[]) => rows.map((row) => row.approvalPublicId);
  const own = await json('list', '--workspace', workspace.workspaceId);
  expect(own[0]).toEqual({
    approvalPublicId: first.id,
    workspacePublicId: first.workspaceId,
    conversationPublicId: first.conversationId,
    turnPublicId: first.turnId,
    agentPublicId: first.agentId,
    toolName: 'pay',
    input: { city: 'Oslo' },
    status: 'pending',
    requestedAt: REQUESTED.toISOString(),
    decidedAt: null,
    decidedBy: null,
  });
  expect(ids(own)).toEqual([first.id, later.id]);
  expect(ids(await json('list')).toSorted()).toEqual(expect.arrayContaining([first.id, later.id, elsewhere.id]));
  expect(ids(await json('list', '--workspace', elsewhere.workspaceId))).toEqual([elsewhere.id]);
});

test('the text for people has the whole input, with misleading characters escaped', async () => {
  const { workspaceId, conversationId, id } = await asked(undefined, {
    note: `${'long '.repeat(100)}end`,
    trick: '\u001b[2K\r\u202eolso \u009b1A',
  });
  const { stdout } = await admin('list', '--workspace', workspaceId);
  expect(stdout).toBe(
    [
      `approval     ${id}`,
      `workspace    ${workspaceId}`,
      `conversation ${conversationId}`,
      `requested at ${REQUESTED.toISOString()}`,
      'tool         pay',
      `input        {"note":"${'long '.repeat(100)}end","trick":"\\u001b[2K\\r\\u202eolso \\u009b1A"}`,
      '',
    ].join('\n'),
  );
  await admin('reject', id);
  expect((await admin('list', '--workspace', workspaceId)).stdout).toBe('none\n');
});

test.each([
  ['approve', 'approved'],
  ['reject', 'rejected'],
])('%s decides as operator, and notifies running services', async (verb, status) => {
  const { id, workspaceId, conversationId, db } = await asked();
  const heard = Promise.withResolvers<string>();
  const unlisten = await database.database.listen(approvalDecided.channel, heard.resolve);
  expect(await json(verb, id)).toMatchObject({ approvalPublicId: id, status, decidedBy: 'operator' });
  expect(JSON.parse(await heard.promise)).toEqual({ workspaceId, conversationId });
  unlisten();
  expect(await db.selectFrom('approvals').select(['status', 'decided_by']).execute()).toEqual([
    { status, decided_by: 'operator' },
  ]);
  expect(await json('list', '--workspace', workspaceId)).toEqual([]);
});

test.each([
  ['approve', 'rejected', null],
  ['reject', 'approved', null],
  ['reject', 'running', null],
  ['approve', 'done', 'Paid.'],
])('%s of an approval that is %s exits with 1 and its state, and changes nothing', async (verb, status, output) => {
  const { id, db } = await asked();
  const decided = { status, decided_at: REQUESTED, decided_by: 'message', output, is_error: output && false };
  await db
    .updateTable('approvals')
    .set(decided as object)
    .execute();
  const before = await db.selectFrom('approvals').selectAll().execute();
  const heard = Promise.withResolvers<string>();
  const unlisten = await database.database.listen(approvalDecided.channel, heard.resolve);
  const message = `Approval ${id} is already ${status}, decided by message at ${REQUESTED.toISOString()}`;
  expect(await admin(verb, id)).toEqual({ code: 1, stdout: '', stderr: `error: ${message}\n` });
  const { code, stdout } = await admin(verb, id, '--json');
  expect([code, JSON.parse(stdout)]).toEqual([1, { error: { message } }]);
  expect(await db.selectFrom('approvals').selectAll().execute()).toEqual(before);
  // Notifications arrive in order, so there was none before this one.
  const next = await asked();
  await admin('approve', next.id);
  expect(await heard.promise).toContain(next.conversationId);
  unlisten();
});

test('an unknown approval, or one in a deleted conversation, exits with 1', async () => {
  const { id, workspaceId, db } = await asked();
  await db.updateTable('conversations').set({ deleted_at: new Date() }).execute();
  for (const each of [newId(), id]) {
    expect(await admin('approve', each)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: There is no approval ${each}\n`,
    });
  }
  expect(await json('list', '--workspace', workspaceId)).toEqual([]);
});

test.each([
  [['list', '--workspace', 'mine'], '--workspace must be a UUID'],
  [['approve'], 'Expected 1 argument(s), got 0'],
  [['approve', 'all'], 'APPROVALID must be a UUID'],
  [['reject', 'all'], 'APPROVALID must be a UUID'],
])('%j is a usage error', async (args, reason) => {
  const { code, stderr } = await admin(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});
