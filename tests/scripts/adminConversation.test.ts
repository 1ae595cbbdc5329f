import { newId } from '../../core/ids.ts';
import { pauseConversation } from '../../db/queries/conversations/pause.ts';
import { endPauses } from '../../jobs/upkeep.ts';
import { addConnection, beginTalk, personOf } from '../support/channels/people.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const admin = (...args: string[]) => run(database, 'conversation', ...args);
const json = (...args: string[]) => adminJson(database, 'conversation', ...args);
const HOUR_MS = 60 * 60 * 1000;

/** A conversation of a person on a channel. */
async function talk(workspace: SeededWorkspace, at = new Date()): Promise<string> {
  const connection = await addConnection(workspace);
  const who = await personOf(workspace, connection, [`bsuid:${newId()}`]);
  return beginTalk(workspace, connection, who, { at });
}

test('pause takes a conversation over until it is resumed, or for some hours; list shows it, resume ends it', async () => {
  const workspace = await database.seedWorkspace();
  const { workspaceId, db } = workspace;
  const [older, newer] = [await talk(workspace, new Date('2026-01-01T00:00:00Z')), await talk(workspace)];
  const shown = await json('pause', older);
  expect(shown).toMatchObject({
    conversationPublicId: older,
    workspacePublicId: workspaceId,
    channel: 'whatsapp',
    isPaused: true,
    pausedBy: 'operator',
    pausedUntil: null,
  });
  const { pausedUntil } = await json('pause', newer, '--hours', '0.5');
  expect(new Date(pausedUntil).getTime()).toBeGreaterThan(Date.now() + HOUR_MS / 2 - 60_000);
  expect(new Date(pausedUntil).getTime()).toBeLessThanOrEqual(Date.now() + HOUR_MS / 2);
  const listed = async () =>
    (await json('list', '--workspace', workspaceId)).map(
      (row: { conversationPublicId: string }) => row.conversationPublicId,
    );
  expect(await listed()).toEqual([newer, older]);
  expect((await json('list')).length).toBeGreaterThanOrEqual(2);
  expect((await admin('list', '--workspace', workspaceId)).stdout).toMatch(
    /^CONVERSATION .*\n.*operator .*Z\n.*operator +resumed/,
  );
  expect(await json('resume', older)).toMatchObject({ isPaused: false, pausedBy: null, pausedUntil: null });
  expect(await listed()).toEqual([newer]);
  await db
    .updateTable('conversations')
    .set({ paused_until: new Date(0) })
    .where('id', '=', newer)
    .execute();
  expect(await listed()).toEqual([]);
});

test('an unknown or deleted conversation exits with 1, a wrong option with 2', async () => {
  const workspace = await database.seedWorkspace();
  const id = await talk(workspace);
  await workspace.db.updateTable('conversations').set({ deleted_at: new Date() }).execute();
  for (const each of [newId(), id]) {
    expect(await admin('pause', each)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: There is no conversation ${each}\n`,
    });
  }
  for (const args of [['pause'], ['pause', 'all'], ['pause', id, '--hours', '0'], ['resume', 'x']]) {
    expect((await admin(...args)).code).toBe(2);
  }
});

test('the upkeep ends pauses at their time, and knows when the next one ends', async () => {
  const workspace = await database.seedWorkspace();
  const { workspaceId, db } = workspace;
  const now = new Date('2030-01-01T00:00:00Z');
  const later = (ms: number) => new Date(now.getTime() + ms);
  const [passed, lasting, endless] = [await talk(workspace), await talk(workspace), await talk(workspace)];
  for (const [id, until] of [
    [passed, now],
    [lasting, later(5_000)],
    [endless, null],
  ] as const) {
    await pauseConversation(db, workspaceId, id, { by: 'person', until, now: later(-HOUR_MS) });
  }
  const logger = undefined as never;
  const next = await endPauses.run({ database: database.database, clock: { now: () => now }, logger });
  const rows = await db.selectFrom('conversations').select(['id', 'is_paused', 'paused_by', 'paused_until']).execute();
  expect(new Map(rows.map(({ id, ...row }) => [id, Object.values(row)]))).toEqual(
    new Map([
      [passed, [false, null, null]],
      [lasting, [true, 'person', later(5_000)]],
      [endless, [true, 'person', null]],
    ]),
  );
  expect(next).toEqual(later(5_000));
});
