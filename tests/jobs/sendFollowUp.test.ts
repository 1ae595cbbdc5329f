import { sql } from 'kysely';
import { softDeleteConversation } from '../../db/queries/conversations/conversations.ts';
import { sendFollowUp } from '../../jobs/sendFollowUp.ts';
import { begun, draftAgent, publishedAgent, said, send, transcript } from '../http/messages/turns.ts';
import { publish, setStatus } from '../support/agents/agents.ts';
import { startTestApp } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import {
  contextOf,
  FOLLOWS_UP,
  HOUR_MS,
  MINUTE_MS,
  planOf,
  run,
  sendDue,
  sweep,
  useFollowUpApp,
} from '../support/turns/followUps.ts';

const here = useFollowUpApp();

/** A conversation with one exchange. Its follow-ups are due after two hours, and every ten minutes from then on. */
const quiet = async (agentId?: string) => begun(here.app, agentId ?? (await publishedAgent(here.app, FOLLOWS_UP)));

describe('the agent writes again', () => {
  test('after the silence and not before, instructed by the service and not by the user', async () => {
    const id = await quiet();
    here.clock.advance(2 * HOUR_MS - 1);
    expect(await sweep(here.app)).toEqual([]);
    here.clock.advance(1);
    here.server.script({ reply: 'Did your order come?' });
    await sendDue(here.app);
    expect(await transcript(here.app, id)).toEqual([
      'user: Hello.',
      'assistant: Hello from the model.',
      'assistant: Did your order come?',
    ]);
    const told = said(here.server.requests.at(-1));
    expect(told.slice(-3, -1)).toEqual(['user: Hello.', 'assistant: Hello from the model.']);
    expect(told.at(-1)).toMatch(/^user: <service-instruction>.* 2 hours\..*Ask whether the order came\./s);
    expect(await sweep(here.app)).toEqual([]);
  });

  test('at every interval, up to the maximum for the whole conversation', async () => {
    const agentId = await publishedAgent(here.app, FOLLOWS_UP);
    const id = await quiet(agentId);
    here.clock.advance(2 * HOUR_MS);
    await sendDue(here.app);
    expect((await planOf(here.app, id)).at?.getTime()).toBe(here.clock.now().getTime() + 10 * MINUTE_MS);
    here.clock.advance(10 * MINUTE_MS);
    await sendDue(here.app);
    here.clock.advance(5 * MINUTE_MS);
    await send(here.app, agentId, { conversationId: id, content: 'Not yet.' }).expect(200);
    expect((await planOf(here.app, id)).at?.getTime()).toBe(here.clock.now().getTime() + 2 * HOUR_MS);
    here.clock.advance(2 * HOUR_MS);
    await sendDue(here.app);
    expect(await planOf(here.app, id)).toEqual({ at: null, sent: 3 });
    await send(here.app, agentId, { conversationId: id, content: 'Still not.' }).expect(200);
    expect(await planOf(here.app, id)).toEqual({ at: null, sent: 3 });
    expect(here.server.requests).toHaveLength(6);
  });

  test('at a time that the sweep before it knows', async () => {
    const id = await quiet();
    const { clock } = here;
    const next = async () => (await sendFollowUp.sweep(contextOf(here.app))).next;
    clock.advance(2 * HOUR_MS - 30_000);
    expect(await next()).toBeUndefined();
    clock.advance(1);
    expect(await next()).toEqual((await planOf(here.app, id)).at);
    // A turn that died holds the conversation until its lease ends.
    const lease = new Date(clock.now().getTime() + 3 * HOUR_MS);
    await sql`update conversations set turn_id = id, turn_expires_at = ${lease} where id = ${id}`.execute(
      here.app.workspace.db,
    );
    expect(await next()).toEqual(lease);
  });

  test('through the queue, once, though two replicas look for what is due', async () => {
    const id = await quiet();
    here.clock.advance(2 * HOUR_MS);
    const settings = { database: here.app.database, jobs: true, models: here.server.settings(), clock: here.clock };
    const replicas = await Promise.all([startTestApp(settings), startTestApp(settings)]);
    try {
      await poll(
        () => planOf(here.app, id),
        ({ sent }) => sent > 0,
      );
    } finally {
      await Promise.all(replicas.map((replica) => replica.close()));
    }
    expect(await transcript(here.app, id)).toHaveLength(3);
    expect(here.server.requests).toHaveLength(2);
  });

  test('once, though two replicas begin it at the same moment', async () => {
    const id = await quiet();
    here.clock.advance(2 * HOUR_MS);
    const other = await startTestApp({
      database: here.app.database,
      models: here.server.settings(),
      clock: here.clock,
    });
    try {
      const [due] = await sweep(here.app);
      if (!due) throw new Error('Nothing is due.');
      await Promise.all([run(here.app, due), run(other, due), run(here.app, due), run(other, due)]);
    } finally {
      await other.close();
    }
    expect(await transcript(here.app, id)).toHaveLength(3);
    expect(here.server.requests).toHaveLength(2);
    expect(await planOf(here.app, id)).toMatchObject({ sent: 1 });
  });
});

describe('it keeps silent', () => {
  test('when the user has written, even after it was found to be due', async () => {
    const agentId = await publishedAgent(here.app, FOLLOWS_UP);
    const id = await quiet(agentId);
    here.clock.advance(2 * HOUR_MS);
    const [due] = await sweep(here.app);
    await send(here.app, agentId, { conversationId: id, content: 'I am back.' }).expect(200);
    expect(await sweep(here.app)).toEqual([]);
    if (due) await run(here.app, due);
    expect(due).toBeDefined();
    expect(here.server.requests).toHaveLength(2);
    expect(await planOf(here.app, id)).toEqual({ at: new Date(here.clock.now().getTime() + 2 * HOUR_MS), sent: 0 });
  });

  test('while the feature is off', async () => {
    const id = await quiet(await publishedAgent(here.app, { ...FOLLOWS_UP, followUpEnabled: false }));
    expect(await planOf(here.app, id)).toEqual({ at: null, sent: 0 });
  });

  const set = (columns: { is_paused?: boolean; is_ended?: boolean }) => (conversationId: string) =>
    here.app.workspace.db.updateTable('conversations').set(columns).where('id', '=', conversationId).execute();
  const status = (value: 'inactive' | 'archived') => (_id: string, agentId: string) =>
    setStatus(here.app.workspace, agentId, value);
  const states = {
    'a paused conversation': set({ is_paused: true }),
    'an ended conversation': set({ is_ended: true }),
    'a deleted conversation': (id: string) =>
      softDeleteConversation(here.app.workspace.db, here.app.workspace.workspaceId, id, here.clock.now()),
    'a conversation with an inactive agent': status('inactive'),
    'a conversation with an archived agent': status('archived'),
    'a conversation with a deleted agent': (_id: string, agentId: string) =>
      here.app.api('delete', `/agents/${agentId}`),
    'a conversation in a workspace that is gone': () =>
      here.app.database.database.system.updateTable('workspaces').set({ deleted_at: here.clock.now() }).execute(),
  };

  test.each(Object.entries(states))('in %s', async (_what, change) => {
    const agentId = await publishedAgent(here.app, FOLLOWS_UP);
    const id = await quiet(agentId);
    here.clock.advance(2 * HOUR_MS);
    const [due] = await sweep(here.app);
    await change(id, agentId);
    if (due) await run(here.app, due);
    expect(due).toMatchObject({ conversationId: id });
    expect(await sweep(here.app)).toEqual([]);
    expect(here.server.requests).toHaveLength(1);
  });

  const { 'a deleted conversation': _deleted, ...kept } = states;

  test.each(Object.entries(kept))(
    'in %s also when it is resumed later: the due follow-up is dropped',
    async (_what, change) => {
      const agentId = await publishedAgent(here.app, FOLLOWS_UP);
      const id = await quiet(agentId);
      await change(id, agentId);
      here.clock.advance(2 * HOUR_MS);
      expect(await sweep(here.app)).toEqual([]);
      expect(await planOf(here.app, id)).toEqual({ at: null, sent: 0 });
    },
  );

  test('but not in a conversation that is resumed before it is due', async () => {
    const id = await quiet();
    await set({ is_paused: true })(id);
    here.clock.advance(HOUR_MS);
    expect(await sweep(here.app)).toEqual([]);
    await set({ is_paused: false })(id);
    here.clock.advance(HOUR_MS);
    expect(await sweep(here.app)).toMatchObject([{ conversationId: id }]);
  });

  test('as the version says that was published in the meantime', async () => {
    const agentId = await draftAgent(here.app, FOLLOWS_UP);
    await publish(here.app, agentId);
    const id = await quiet(agentId);
    await here.app.api('patch', `/agents/${agentId}`).send({ followUpEnabled: false }).expect(200);
    await publish(here.app, agentId);
    here.clock.advance(2 * HOUR_MS);
    await sendDue(here.app);
    expect(await planOf(here.app, id)).toEqual({ at: null, sent: 0 });
    expect(here.server.requests).toHaveLength(1);
  });

  test('in a conversation that a turn holds at the moment', async () => {
    const id = await quiet();
    here.clock.advance(2 * HOUR_MS);
    await here.app.workspace.db
      .updateTable('conversations')
      .set({ turn_id: id, turn_expires_at: new Date(Date.now() + HOUR_MS) })
      .where('id', '=', id)
      .execute();
    expect(await sweep(here.app)).toEqual([]);
  });
});
