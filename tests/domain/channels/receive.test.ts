import { newId } from '../../../core/ids.ts';
import type { ChannelConnectionRow } from '../../../db/queries/channels/connections.ts';
import { receiveEvents } from '../../../domain/channels/receive.ts';
import type { InboundEvent } from '../../../integrations/channels/provider.ts';
import { addConnection, messageEvent, statusEvent } from '../../support/channels/events.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';

const NOW = new Date('2026-05-01T12:00:00Z');

let database: TestDatabase;
let workspace: SeededWorkspace;
let connection: ChannelConnectionRow;
let conversationId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await database.seedWorkspace();
});
beforeEach(async () => {
  const { db, workspaceId } = workspace;
  const agentId = newId();
  conversationId = newId();
  await db.insertInto('agents').values({ workspace_id: workspaceId, id: agentId, name: agentId }).execute();
  connection = await addConnection(workspace, agentId);
  await db
    .insertInto('conversations')
    .values({ workspace_id: workspaceId, id: conversationId, agent_id: agentId, external_user_id: 'person' })
    .execute();
});
afterAll(() => database.drop());

const receive = (events: readonly InboundEvent[], to: Partial<ChannelConnectionRow> = {}) =>
  receiveEvents(workspace.db, { ...connection, ...to }, events, NOW);

const inbound = () =>
  workspace.db
    .selectFrom('inbound_messages')
    .selectAll()
    .where('connection_id', '=', connection.id)
    .orderBy('provider_message_id')
    .execute();

/** A message on its way. */
async function delivery(status: 'sending' | 'sent', providerMessageId: string | null) {
  const { db, workspaceId } = workspace;
  const common = { workspace_id: workspaceId, conversation_id: conversationId };
  const [id, messageId] = [newId(), newId()];
  await db
    .insertInto('messages')
    .values({ ...common, id: messageId, role: 'assistant', content: 'Hi.' })
    .execute();
  await db
    .insertInto('deliveries')
    .values({
      ...common,
      id,
      connection_id: connection.id,
      message_id: messageId,
      status,
      provider_message_id: providerMessageId,
    })
    .execute();
  return async () => await db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

describe('what people send', () => {
  test('is stored once, however often it comes, together or one after the other', async () => {
    const event = messageEvent('4915112345', { providerMessageId: 'a', text: 'Hello\0.' });
    const person = { workspaceId: workspace.workspaceId, connectionId: connection.id, person: 'phone:4915112345' };
    expect(await receive([event, event])).toEqual({ waiting: [person], health: [] });
    expect(await receive([event])).toEqual({ waiting: [], health: [] });
    const rows = await inbound();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ status: 'received', person_key: 'phone:4915112345', sent_at: new Date(0) });
    expect(rows[0]?.event).toMatchObject({ kind: 'message', text: 'Hello\ufffd.' });
  });

  test('is stored once when two replicas get it at the same moment, in any order', async () => {
    const events = Array.from({ length: 20 }, (_, place) => messageEvent('49', { providerMessageId: `m${place}` }));
    const all = await Promise.all([receive(events), receive([...events].reverse()), receive(events)]);
    expect(await inbound()).toHaveLength(20);
    expect(all.flatMap(({ waiting }) => waiting).length).toBeGreaterThanOrEqual(1);
  });

  test('has a time that PostgreSQL takes and that is not still to come, and texts and ids with a bound', async () => {
    await receive([
      messageEvent('49', { providerMessageId: 'x'.repeat(5_000), sentAt: 'yesterday', text: 'y'.repeat(40_000) }),
      messageEvent('49', { providerMessageId: 'b', sentAt: '2100-01-01T00:00:00Z' }),
      messageEvent('', { providerMessageId: 'nobody' }),
    ]);
    const rows = await inbound();
    expect(rows.map(({ sent_at }) => sent_at)).toEqual([NOW, NOW]);
    expect(Math.max(...rows.map(({ event }) => String(event.text).length))).toBe(32_010);
  });

  test('is kept and not worked when the connection is not active', async () => {
    expect((await receive([messageEvent('49')], { is_active: false })).waiting).toEqual([]);
    expect(await inbound()).toMatchObject([{ status: 'ignored', error_code: 'CONNECTION_INACTIVE', settled_at: NOW }]);
  });

  test('what is said of the account is handed back, and what is to be ignored is not stored', async () => {
    const problem = { code: 'TOKEN_EXPIRED', message: 'The token has expired.' } as const;
    const events = [
      { kind: 'health', problem },
      { kind: 'ignored', providerMessageId: 'g', reason: 'group' },
    ] as const;
    expect(await receive(events)).toEqual({ waiting: [], health: [problem] });
    expect(await inbound()).toEqual([]);
  });
});

describe('what became of a message', () => {
  test('goes forward only: read before delivered stays read, and has both times', async () => {
    const row = await delivery('sent', 'w1');
    const [early, late] = ['2026-05-01T10:00:00Z', '2026-05-01T11:00:00Z'];
    await receive([statusEvent('w1', 'read', { at: late })]);
    expect(await row()).toMatchObject({ status: 'read', read_at: new Date(late), delivered_at: new Date(late) });
    await receive([statusEvent('w1', 'delivered', { at: early }), statusEvent('w1', 'sent', { at: early })]);
    expect(await row()).toMatchObject({ status: 'read', read_at: new Date(late) });
  });

  test('a failure has the code of the provider, and counts unless the message was delivered', async () => {
    const failure = { errorCode: '131026', errorMessage: 'Message undeliverable' };
    const failed = await delivery('sent', 'w2');
    await receive([statusEvent('w2', 'sent'), statusEvent('w2', 'failed', failure)]);
    expect(await failed()).toMatchObject({
      status: 'failed',
      error_code: '131026',
      error_message: 'Message undeliverable',
    });
    await receive([statusEvent('w2', 'sent')]);
    expect(await failed()).toMatchObject({ status: 'failed', error_code: '131026' });
    const arrived = await delivery('sent', 'w3');
    await receive([statusEvent('w3', 'delivered'), statusEvent('w3', 'failed', failure)]);
    expect(await arrived()).toMatchObject({ status: 'delivered', error_code: null });
  });

  test('is matched by our own id, where the provider hands it back', async () => {
    const row = await delivery('sending', null);
    await receive([statusEvent('w4', 'delivered', { deliveryId: (await row()).id })]);
    expect(await row()).toMatchObject({ status: 'delivered', provider_message_id: 'w4' });
  });

  test('is kept when the sending is not stored yet, and forgotten when nothing is being sent', async () => {
    const early = async () =>
      (await workspace.db.selectFrom('early_receipts').selectAll().execute()).map(({ status }) => status);
    await receive([statusEvent('w5', 'delivered')]);
    expect(await early()).toEqual([]);
    await delivery('sending', null);
    await receive([statusEvent('w5', 'delivered'), statusEvent('w5', 'delivered'), statusEvent('w5', 'read')]);
    expect((await early()).sort()).toEqual(['delivered', 'read']);
  });
});
