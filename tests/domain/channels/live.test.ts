import { systemClock } from '../../../core/clock.ts';
import { newId } from '../../../core/ids.ts';
import { chatChanged, subscribe } from '../../../db/events.ts';
import { findChatStates } from '../../../db/queries/channels/chatStates.ts';
import { beginLiveReply } from '../../../domain/channels/live.ts';
import { forgetLiveReplies } from '../../../jobs/chatUpkeep.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { poll, until } from '../../support/poll.ts';

let database: TestDatabase;
let workspace: SeededWorkspace;
let connectionId: string;
let conversationId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await database.seedWorkspace();
});
beforeEach(async () => {
  const { db, workspaceId } = workspace;
  const agentId = newId();
  conversationId = newId();
  connectionId = newId();
  const endUserId = newId();
  await db.insertInto('agents').values({ workspace_id: workspaceId, id: agentId, name: agentId }).execute();
  await db
    .insertInto('channel_connections')
    .values({ workspace_id: workspaceId, id: connectionId, agent_id: agentId, channel_type: 'web_chat' })
    .execute();
  const ofConnection = { workspace_id: workspaceId, connection_id: connectionId };
  await db
    .insertInto('end_users')
    .values({ ...ofConnection, id: endUserId, external_user_id: 'visitor' })
    .execute();
  await db
    .insertInto('channel_identities')
    .values({ ...ofConnection, kind: 'visitor', value: 'visitor', end_user_id: endUserId })
    .execute();
  await db
    .insertInto('conversations')
    .values({
      ...ofConnection,
      id: conversationId,
      agent_id: agentId,
      external_user_id: 'visitor',
      end_user_id: endUserId,
    })
    .execute();
});
afterAll(() => database.drop());

const begin = () =>
  beginLiveReply({ db: workspace.db, workspaceId: workspace.workspaceId, clock: systemClock }, conversationId);

/** What a stream that has text up to `offset` of an attempt would get. */
async function look(replyId: string | null = null, offset = 0) {
  const followed = { workspaceId: workspace.workspaceId, connectionId, visitor: 'visitor', replyId, offset };
  const [state] = await findChatStates(database.database.system, [followed]);
  if (!state) throw new Error('There is no conversation.');
  return { replyId: state.replyId, text: state.pieces.map(({ text }) => text).join(''), pieces: state.pieces };
}

describe('a live reply', () => {
  test('is read whole, and from an offset', async () => {
    const live = await begin();
    expect((await look()).text).toBe('');
    live.onText('Hello ');
    live.onText('there');
    const first = await poll(
      () => look(),
      ({ text }) => text === 'Hello there',
    );
    live.onText(', again');
    const rest = await poll(
      () => look(first.replyId, 'Hello there'.length),
      ({ text }) => text === ', again',
    );
    expect(rest.pieces[0]?.at).toBe('Hello there'.length);
    expect((await look()).text).toBe('Hello there, again');
    await live.end();
    expect(await look()).toEqual({ replyId: null, text: '', pieces: [] });
  });

  test('that begins anew is read from its beginning', async () => {
    const first = await begin();
    first.onText('a first try');
    const { replyId } = await poll(
      () => look(),
      ({ text }) => text !== '',
    );
    await first.end();
    const second = await begin();
    second.onText('a second one');
    const state = await poll(
      () => look(replyId, 11),
      ({ text }) => text !== '',
    );
    expect(state).toMatchObject({ text: 'a second one' });
    expect(state.replyId).not.toBe(replyId);
    await second.end();
  });

  test('does not cut a character in two, and a large text comes whole', async () => {
    const live = await begin();
    const text = `x${'😀'.repeat(60_000)}`;
    live.onText(text);
    const state = await poll(
      () => look(),
      ({ text: read }) => read.length === text.length,
    );
    expect(state.pieces.length).toBeGreaterThan(1);
    expect(state.text).toBe(text);
    await live.end();
  });

  test('tells the streams of its beginning and its end', async () => {
    const heard: string[] = [];
    const end = await subscribe(database.database, chatChanged, {
      received: (chat) => heard.push(chat.conversationId),
      missed: () => {},
      logger: { warn: () => {} },
    });
    const live = await begin();
    await until(() => heard.length === 1);
    await live.end();
    await until(() => heard.length === 2);
    expect(heard).toEqual([conversationId, conversationId]);
    end();
  });

  test('takes nothing after its end, and ends once', async () => {
    const live = await begin();
    await live.end();
    live.onText('late');
    await live.end();
    expect(await look()).toMatchObject({ text: '' });
  });

  test('whose process died is forgotten after a while', async () => {
    const live = await begin();
    const quiet = { warn: () => {} } as never;
    await forgetLiveReplies.run({ database: database.database, clock: systemClock, logger: quiet });
    expect((await look()).replyId).not.toBeNull();
    const later = { now: () => new Date(Date.now() + 20 * 60_000) };
    await forgetLiveReplies.run({ database: database.database, clock: later, logger: quiet });
    expect((await look()).replyId).toBeNull();
    await live.end();
  });

  test('that cannot be written fails nothing', async () => {
    const context = { db: workspace.db, workspaceId: newId(), clock: systemClock };
    const live = await beginLiveReply(context, conversationId);
    live.onText('lost');
    await live.end();
  });
});

test('a conversation of another workspace has no state', async () => {
  const other = await database.seedWorkspace();
  const followed = { workspaceId: other.workspaceId, connectionId, visitor: 'visitor', replyId: null, offset: 0 };
  expect(await findChatStates(database.database.system, [followed])).toEqual([undefined]);
});
