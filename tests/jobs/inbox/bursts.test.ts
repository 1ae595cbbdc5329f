import { sql } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { ChannelConnectionRow } from '../../../db/queries/channels/connections.ts';
import { endPause, pauseConversation } from '../../../db/queries/conversations/pause.ts';
import { answerInbound } from '../../../jobs/answerInbound.ts';
import { said, transcript } from '../../http/messages/turns.ts';
import { publish } from '../../support/agents/agents.ts';
import { link, postTool, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { messageEvent } from '../../support/channels/events.ts';
import { answerDue, jobContextOf, takeDue, useInbox, workInbox } from '../../support/channels/inbox.ts';
import { startTestApp } from '../../support/http/app.ts';
import { startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';

const here = useInbox();
let tools: ToolServer;

beforeAll(async () => {
  tools = await startToolServer();
});
afterAll(() => tools.close());

/** Each thing is sent a second after the one before it. */
const at = (_order: number) => {
  here.clock.advance(1_000);
  return { sentAt: here.clock.now().toISOString() };
};
/** A call of a tool, as a model asks for it. */
const callOf = (name: string) => ({ id: `call_${name}`, name, arguments: '{"city":"Oslo"}' });
const texts = async (connection: ChannelConnectionRow) => {
  const [conversation] = await here.conversations(connection);
  return transcript(here.app, conversation?.id ?? '');
};
const conversationOf = async (connection: ChannelConnectionRow) => {
  const [conversation] = await here.conversations(connection);
  if (!conversation) throw new Error('There is no conversation.');
  return conversation;
};
const statuses = async (connection: ChannelConnectionRow) =>
  (await here.inbound(connection)).map(({ status, error_code }) => (error_code ? `${status} ${error_code}` : status));

describe('messages that come while a turn runs', () => {
  test('join it as long as no tool was called: one reply answers all, also when another process takes them', async () => {
    const connection = await here.connect();
    const gate = Promise.withResolvers<void>();
    here.server.script(
      { silence: true },
      {
        reply: (async function* () {
          await gate.promise;
          yield 'Hello from the model.';
        })(),
      },
    );
    await here.receive(connection, messageEvent('4911', { text: 'one', ...at(1) }));
    await takeDue(here.app);
    const answering = answerDue(here.app);
    await here.server.received(1);
    const replica = await startTestApp({
      database: here.app.database,
      clock: here.clock,
      models: here.server.settings(),
      channels: { zApiBaseUrl: here.zApi.baseUrl, whatsappBaseUrl: here.zApi.baseUrl },
    });
    try {
      await here.receive(connection, messageEvent('4911', { text: 'two', ...at(2) }));
      await takeDue(replica);
      // Between the turn that is given up and the next one nobody holds the conversation, and either process may go on.
      await here.server.received(2);
      // Now it is held: the other process leaves it alone.
      expect(await answerDue(replica)).toBe(0);
    } finally {
      gate.resolve();
      await replica.close();
    }
    await answering;
    expect(said(here.server.requests[1]).at(-1)).toBe('user: one\n\ntwo');
    expect(await texts(connection)).toEqual(['user: one', 'user: two', 'assistant: Hello from the model.']);
    expect(await statuses(connection)).toEqual(['answered', 'answered']);
    const turns = await turnsOf(here.app, (await conversationOf(connection)).id);
    expect(turns.map(({ status }) => status)).toEqual(['failed', 'done']);
    expect(turns[0]).toMatchObject({ error_code: 'REPLACED' });
  });

  test('make one next turn when a tool was called', async () => {
    const { publicId } = await postTool(here.app, tools, '/book');
    const released = Promise.withResolvers<void>();
    const called = Promise.withResolvers<void>();
    tools.on('/book', async (_, response) => {
      called.resolve();
      await released.promise;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"booked":true}');
    });
    const connection = await here.connect();
    await link(here.app, connection.agent_id, 'http_tool', publicId);
    await publish(here.app, connection.agent_id);
    here.server.script({ reply: '', toolCalls: [callOf('book')] }, { reply: 'Booked.' }, { reply: 'Both.' });
    await here.receive(connection, messageEvent('4912', { text: 'one', ...at(1) }));
    await takeDue(here.app);
    const answering = answerDue(here.app);
    await called.promise;
    await here.receive(
      connection,
      messageEvent('4912', { text: 'two', ...at(2) }),
      messageEvent('4912', { text: 'three', ...at(3) }),
    );
    await takeDue(here.app);
    released.resolve();
    await answering;
    expect((await texts(connection)).slice(-2)).toEqual(['assistant: Booked.', 'assistant: Both.']);
    expect(said(here.server.requests[2]).at(-1)).toBe('user: two\n\nthree');
    expect(await statuses(connection)).toEqual(['answered', 'answered', 'answered']);
  });

  test('a redelivery in mid-turn makes nothing new', async () => {
    const connection = await here.connect();
    const event = messageEvent('4913', { text: 'one' });
    const gate = Promise.withResolvers<void>();
    here.server.script({
      reply: (async function* () {
        await gate.promise;
        yield 'Done.';
      })(),
    });
    await here.receive(connection, event);
    await takeDue(here.app);
    const answering = answerDue(here.app);
    await here.server.received(1);
    await here.receive(connection, event, event);
    expect(await takeDue(here.app)).toBe(0);
    gate.resolve();
    await answering;
    await workInbox(here.app);
    expect(await texts(connection)).toEqual(['user: one', 'assistant: Done.']);
    expect(here.server.requests).toHaveLength(1);
  });

  test('with message delay they are joined for at most 15 s from the first', async () => {
    const connection = await here.connect({ messageDelayEnabled: true, messageDelayType: 'HIGH' });
    await here.receive(connection, messageEvent('4914', { text: 'one', ...at(1) }));
    await takeDue(here.app);
    expect(await answerDue(here.app)).toBe(0);
    here.clock.advance(8_000);
    await here.receive(connection, messageEvent('4914', { text: 'two', ...at(2) }));
    await takeDue(here.app);
    here.clock.advance(5_999);
    await answerDue(here.app);
    expect(here.server.requests).toHaveLength(0);
    here.clock.advance(1);
    await answerDue(here.app);
    expect(said(here.server.requests[0]).at(-1)).toBe('user: one\n\ntwo');
  });

  test('a person who floods gets one answer to the first 50, and the agent knows of the rest', async () => {
    const connection = await here.connect();
    const events = Array.from({ length: 60 }, (_, place) => messageEvent('4915', { text: `m${place}`, ...at(place) }));
    await here.receive(connection, ...events);
    await takeDue(here.app);
    await workInbox(here.app);
    await workInbox(here.app);
    const all = await statuses(connection);
    expect(all.filter((status) => status === 'answered')).toHaveLength(50);
    expect(all.filter((status) => status === 'ignored TOO_MANY_MESSAGES')).toHaveLength(10);
    expect(await texts(connection)).toContain(
      'user: [The person sent 10 further messages at once. They were left out.]',
    );
    expect(here.server.requests).toHaveLength(1);
  });
});

describe('a conversation that a person has taken over', () => {
  test('keeps what is said as history: no turn then, and none by itself afterwards', async () => {
    const connection = await here.connect();
    const { db, workspaceId } = here.app.workspace;
    await here.receive(connection, messageEvent('4916', { text: 'one', ...at(1) }));
    await workInbox(here.app);
    const { id } = await conversationOf(connection);
    await pauseConversation(db, workspaceId, id, { by: 'operator', until: null, now: here.clock.now() });
    await here.receive(connection, messageEvent('4916', { text: 'two', ...at(2) }));
    await workInbox(here.app);
    expect(await statuses(connection)).toEqual(['answered', 'ignored CONVERSATION_PAUSED']);
    await endPause(db, workspaceId, id);
    await workInbox(here.app);
    expect(here.server.requests).toHaveLength(1);
    await here.receive(connection, messageEvent('4916', { text: 'three', ...at(3) }));
    await workInbox(here.app);
    expect(said(here.server.requests[1]).slice(-2)).toEqual(['user: two', 'user: three']);
  });

  test('what somebody writes on the phone itself is history and pauses, and our own message does not', async () => {
    const connection = await here.connect();
    await here.receive(connection, messageEvent('4917', { text: 'one', ...at(1) }));
    await workInbox(here.app);
    const identities = [{ kind: 'phone' as const, value: '4917' }];
    const echo = { kind: 'echo' as const, identities, text: 'I will call you.', ...at(2) };
    const own = here.zApi.messages[0]?.messageId ?? '';
    await here.receive(connection, { ...echo, providerMessageId: own });
    await workInbox(here.app);
    expect((await conversationOf(connection)).is_paused).toBe(false);
    await here.receive(connection, { ...echo, providerMessageId: 'theirs' });
    await workInbox(here.app);
    expect(await conversationOf(connection)).toMatchObject({ is_paused: true, paused_by: 'person' });
    await here.receive(connection, messageEvent('4917', { text: 'two', ...at(3) }));
    await workInbox(here.app);
    expect(here.server.requests).toHaveLength(1);
    expect((await texts(connection)).slice(-2)).toEqual(['assistant: I will call you.', 'user: two']);
  });
});

test('a pause that begins while a turn runs settles nothing of what the turn answers', async () => {
  const connection = await here.connect();
  const { db, workspaceId } = here.app.workspace;
  const gate = Promise.withResolvers<void>();
  here.server.script({
    reply: (async function* () {
      await gate.promise;
      yield 'Done.';
    })(),
  });
  await here.receive(connection, messageEvent('4924', { text: 'one', ...at(1) }));
  await takeDue(here.app);
  const answering = answerDue(here.app);
  await here.server.received(1);
  const { id } = await conversationOf(connection);
  await pauseConversation(db, workspaceId, id, { by: 'operator', until: null, now: here.clock.now() });
  await answerInbound.run({ workspaceId, conversationId: id }, jobContextOf(here.app));
  expect(await statuses(connection)).toEqual(['taken']);
  gate.resolve();
  await answering;
  expect(await statuses(connection)).toEqual(['answered']);
});

test('a turn that lost its conversation leaves the messages to the turn that took it', async () => {
  const connection = await here.connect();
  const { db, workspaceId } = here.app.workspace;
  here.server.script({ silence: true });
  await here.receive(connection, messageEvent('4925', { text: 'one', ...at(1) }));
  await takeDue(here.app);
  const answering = answerDue(here.app).catch(() => {});
  await here.server.received(1);
  const { id } = await conversationOf(connection);
  const other = newId();
  await sql`update conversations set turn_id = ${other}, turn_expires_at = now() + interval '1 hour' where id = ${id}`.execute(
    db,
  );
  await sql`update inbound_messages set turn_id = ${other} where conversation_id = ${id}`.execute(db);
  // The next renewal of the lease says so.
  await answering;
  expect(await here.inbound(connection)).toMatchObject([{ status: 'taken', turn_id: other, attempts: 0 }]);
  await sql`update conversations set turn_id = null, turn_expires_at = null where id = ${id}`.execute(db);
  await sql`delete from inbound_messages where workspace_id = ${workspaceId} and conversation_id = ${id}`.execute(db);
});

describe('a turn that fails', () => {
  test('is tried again with back-off, and its messages are failed in the end, with the reason', async () => {
    const connection = await here.connect();
    here.server.fallback = { status: 500 };
    await here.receive(connection, messageEvent('4918'));
    await workInbox(here.app);
    await workInbox(here.app);
    expect(here.server.requests).toHaveLength(1);
    here.clock.advance(5_000);
    await workInbox(here.app);
    expect(here.server.requests).toHaveLength(2);
    expect(await here.inbound(connection)).toMatchObject([{ status: 'taken', attempts: 2 }]);
    here.clock.advance(60_000);
    await workInbox(here.app);
    here.clock.advance(3_600_000);
    await workInbox(here.app);
    expect(here.server.requests).toHaveLength(3);
    expect(await here.inbound(connection)).toMatchObject([{ status: 'failed', error_code: 'MODEL_PROVIDER_ERROR' }]);
    expect(await here.deliveries(connection)).toEqual([]);
  });

  test('is not tried again when a tool had begun', async () => {
    const { publicId } = await postTool(here.app, tools, '/refund');
    const connection = await here.connect();
    await link(here.app, connection.agent_id, 'http_tool', publicId);
    await publish(here.app, connection.agent_id);
    here.server.script(
      { reply: '', toolCalls: [callOf('refund')] },
      {
        status: 500,
      },
    );
    await here.receive(connection, messageEvent('4919'));
    await workInbox(here.app);
    here.clock.advance(3_600_000);
    await workInbox(here.app);
    expect(here.server.requests).toHaveLength(2);
    const [row] = await here.inbound(connection);
    expect(row).toMatchObject({ status: 'failed', error_code: 'MODEL_PROVIDER_ERROR' });
    expect(row?.error_message).toMatch(/A tool had begun/);
  });

  test('for the limit of the month or an agent that is not published is recorded, once', async () => {
    const connection = await here.connect();
    await sql`update agents set status = 'inactive' where id = ${connection.agent_id}`.execute(here.app.workspace.db);
    await here.receive(connection, messageEvent('4920'));
    await workInbox(here.app);
    here.clock.advance(3_600_000);
    expect(await answerDue(here.app)).toBe(0);
    expect(await statuses(connection)).toEqual(['failed AGENT_NOT_PUBLISHED']);
    expect(here.server.requests).toHaveLength(0);
  });

  test('because its process died is gone on with, unless an earlier release had begun a tool in it', async () => {
    const connection = await here.connect();
    const { db, workspaceId } = here.app.workspace;
    const died = async (person: string, withTool: boolean) => {
      await here.receive(connection, messageEvent(person, { text: 'one' }));
      await takeDue(here.app);
      const conversation = (await here.conversations(connection)).find((each) => each.external_user_id === person);
      const turnId = conversation?.id ?? '';
      for (const table of ['inbound_messages', 'messages'])
        await sql`update ${sql.table(table)} set turn_id = ${turnId} where conversation_id = ${turnId}`.execute(db);
      await sql`update conversations set turn_id = ${turnId}, turn_expires_at = now() - interval '1 second' where id = ${turnId}`.execute(
        db,
      );
      await sql`insert into turns (workspace_id, id, conversation_id, agent_id, version_number, kind, started_at)
        values (${workspaceId}, ${turnId}, ${turnId}, ${connection.agent_id}, 1, 'message', now())`.execute(db);
      if (!withTool) return;
      await sql`insert into turn_steps (workspace_id, turn_id, seq, agent_id, depth, kind, name, status, started_at)
        values (${workspaceId}, ${turnId}, 0, ${connection.agent_id}, 0, 'tool', 'pay', 'running', now())`.execute(db);
    };
    await died('4921', false);
    await workInbox(here.app);
    expect(await statuses(connection)).toEqual(['answered']);
    await died('4922', true);
    await workInbox(here.app);
    expect((await statuses(connection)).sort()).toEqual(['answered', 'failed INTERRUPTED']);
    expect(here.server.requests).toHaveLength(1);
  });
});

describe('files', () => {
  const media = (name: string, mediaType: string) => [
    { reference: `${here.zApi.baseUrl}/files/${name}`, mediaType, filename: name },
  ];

  test('are fetched when the message is received, and read by the model; one that cannot be had loses no message', async () => {
    const connection = await here.connect();
    here.zApi.files.set('notes.txt', { bytes: Buffer.from('The code is 42.'), mediaType: 'text/plain' });
    const model = await here.app.workspace.db
      .selectFrom('agents')
      .select('ai_model_id')
      .where('id', '=', connection.agent_id)
      .executeTakeFirstOrThrow();
    expect(model.ai_model_id).not.toBeNull();
    await here.receive(
      connection,
      messageEvent('4923', { text: 'See this', media: media('notes.txt', 'text/plain'), ...at(1) }),
      messageEvent('4923', { text: '', media: media('gone.pdf', 'application/pdf'), ...at(2) }),
    );
    await takeDue(here.app);
    here.zApi.files.clear();
    await answerDue(here.app);
    const last = said(here.server.requests[0]).at(-1);
    // The model of the agent takes no files, and says so where another one would read them.
    expect(last).toMatch(/^user: See this\n\n\[The person sent notes\.txt \(text\/plain\), which could not be read\./);
    expect(last).toMatch(/\[The person sent gone\.pdf \(application\/pdf\), which could not be fetched\.\]$/);
    expect(await statuses(connection)).toEqual(['answered', 'answered']);
  });
});
