import { newId } from '../../core/ids.ts';
import type { ChannelConnectionRow } from '../../db/queries/channels/connections.ts';
import { messageEvent } from '../support/channels/events.ts';
import { takeDue, useInbox, workInbox } from '../support/channels/inbox.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';

const here = useInbox();
const admin = (...args: string[]) => run(here.app, 'channel', ...args);
const json = (...args: string[]) => adminJson(here.app, 'channel', ...args);
const states = async (connection: ChannelConnectionRow) =>
  (await here.inbound(connection)).map(({ status, error_code }) => [status, error_code]);
const sent = () => here.zApi.messages.map(({ phone, content }) => [phone, content]);

/** At the limit no message is answered: a failure that no further attempt mends. */
const setLimit = (operation_limit: number | null) =>
  here.app.database.database.system
    .updateTable('workspaces')
    .set({ operation_limit })
    .where('id', '=', here.app.workspace.workspaceId)
    .execute();

/** Commands have the time of the machine, which the clock of the test is behind. */
async function workLater(): Promise<void> {
  here.clock.advance(60_000);
  await workInbox(here.app);
}

/** Two people whose messages failed. */
async function failing(): Promise<ChannelConnectionRow> {
  const connection = await here.connect();
  await setLimit(0);
  await here.receive(
    connection,
    messageEvent('4915100001', { text: 'First?' }),
    messageEvent('4915100002', { text: 'Second?' }),
  );
  await workInbox(here.app);
  expect(await states(connection)).toEqual(Array(2).fill(['failed', 'OPERATION_LIMIT_REACHED']));
  await setLimit(null);
  return connection;
}

test('messages that failed are kept, listed, and answered once when they are replayed', async () => {
  const connection = await failing();
  const failed = await json('failed', connection.id);
  expect(failed).toMatchObject([
    { error: { code: 'OPERATION_LIMIT_REACHED' }, event: { kind: 'message' } },
    { error: { code: 'OPERATION_LIMIT_REACHED' } },
  ]);
  expect((await admin('failed', connection.id)).stdout).toMatch(/OPERATION_LIMIT_REACHED +"(First|Second)\?"/);
  const listed = (await json('list')).find(
    (each: { connectionPublicId: string }) => each.connectionPublicId === connection.id,
  );
  expect(listed.failedMessages).toBe(2);
  expect(await json('replay', connection.id)).toEqual({ replayed: 2, leftOut: 0 });
  await workLater();
  await workLater();
  expect(sent().toSorted()).toEqual([
    ['4915100001', 'Hello from the model.'],
    ['4915100002', 'Hello from the model.'],
  ]);
  expect(await states(connection)).toEqual(Array(2).fill(['answered', null]));
  expect(await json('replay', connection.id)).toEqual({ replayed: 0, leftOut: 0 });
});

test('one message alone, or those that came since', async () => {
  const connection = await failing();
  const [first] = await here.inbound(connection);
  expect(await json('replay', connection.id, '--since', '2999-01-01T00:00:00Z')).toEqual({ replayed: 0, leftOut: 0 });
  expect(await json('replay', first?.id ?? '')).toEqual({ replayed: 1, leftOut: 0 });
  await workLater();
  expect(sent()).toHaveLength(1);
  expect((await admin('replay', first?.id ?? '')).stderr).toBe(
    `error: Message ${first?.id} is answered, and not failed\n`,
  );
});

test('a message that was never taken into a conversation is taken then', async () => {
  const connection = await here.connect();
  await here.receive(connection, messageEvent('4915100003', { text: 'Hello?' }));
  const { db } = here.app.workspace;
  const lost = { status: 'failed', error_code: 'NOT_TAKEN', settled_at: new Date() } as const;
  await db.updateTable('inbound_messages').set(lost).where('connection_id', '=', connection.id).execute();
  await takeDue(here.app);
  expect(await states(connection)).toEqual([['failed', 'NOT_TAKEN']]);
  await json('replay', connection.id);
  await workLater();
  expect(sent()).toEqual([['4915100003', 'Hello from the model.']]);
});

test('what a tool may have done is not done again, unless the message is named', async () => {
  const connection = await failing();
  const { db, workspaceId } = here.app.workspace;
  const [first, second] = await here.inbound(connection);
  const turnId = newId();
  await db
    .insertInto('turn_steps')
    .values({
      workspace_id: workspaceId,
      turn_id: turnId,
      seq: 1,
      kind: 'tool',
      agent_id: newId(),
      name: 'refund',
      status: 'done',
    })
    .execute();
  await db
    .updateTable('inbound_messages')
    .set({ turn_id: turnId })
    .where('id', '=', first?.id ?? '')
    .execute();
  expect(await json('replay', connection.id)).toEqual({ replayed: 1, leftOut: 1 });
  expect((await here.inbound(connection)).map(({ id, status }) => [id, status])).toEqual([
    [first?.id, 'failed'],
    [second?.id, 'taken'],
  ]);
  expect(await json('replay', first?.id ?? '')).toEqual({ replayed: 1, leftOut: 0 });
});

test('what came while the connection was off is answered when it is named, and not with the others', async () => {
  const connection = await here.connect();
  await here.receive({ ...connection, is_active: false }, messageEvent('4915100004'));
  expect(await json('replay', connection.id)).toEqual({ replayed: 0, leftOut: 0 });
  const [row] = await here.inbound(connection);
  expect(await json('replay', row?.id ?? '')).toEqual({ replayed: 1, leftOut: 0 });
  await workLater();
  expect(sent()).toContainEqual(['4915100004', 'Hello from the model.']);
});

test.each([
  [['replay', newId()], 1, 'There is no channel connection and no message'],
  [['failed', newId()], 1, 'There is no channel connection'],
  [['replay', newId(), '--since', 'yesterday'], 2, '--since must be a time such as'],
  [['replay', 'x'], 2, 'CONNECTION or MESSAGE must be a UUID'],
])('%j is refused', async (args, code, message) => {
  const answer = await admin(...args);
  expect([answer.code, answer.stderr]).toEqual([code, expect.stringContaining(message)]);
});
