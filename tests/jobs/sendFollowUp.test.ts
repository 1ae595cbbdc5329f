import { softDeleteConversation } from '../../db/queries/conversations.ts';
import { begun, draftAgent, publishedAgent, said, send, transcript } from '../http/messages/turns.ts';
import { publish, setStatus } from '../support/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../support/app.ts';
import { FOLLOWS_UP, HOUR_MS, MINUTE_MS, planOf, run, sendDue, sweep } from '../support/followUps.ts';
import { until } from '../support/knowledge.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';

let server: ModelServer;
let app: TestApp;
let clock: TestClock;

beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  server.reset();
  clock = new TestClock();
  app = await startTestApp({ models: server.settings(), clock });
});
afterEach(() => app.close());

/** A conversation with one exchange. Its follow-ups are due after two hours, and every ten minutes from then on. */
const quiet = async (agentId?: string) => begun(app, agentId ?? (await publishedAgent(app, FOLLOWS_UP)));

describe('the agent writes again', () => {
  test('after the silence and not before, told by the service and not by the user', async () => {
    const id = await quiet();
    clock.advance(2 * HOUR_MS - 1);
    expect(await sweep(app)).toEqual([]);
    clock.advance(1);
    server.script({ reply: 'Did your order come?' });
    await sendDue(app);
    expect(await transcript(app, id)).toEqual([
      'user: Hello.',
      'assistant: Hello from the model.',
      'assistant: Did your order come?',
    ]);
    const told = said(server.requests.at(-1));
    expect(told.slice(-3, -1)).toEqual(['user: Hello.', 'assistant: Hello from the model.']);
    expect(told.at(-1)).toMatch(/^user: <service-instruction>.* 2 hours\..*Ask whether the order came\./s);
    expect(await sweep(app)).toEqual([]);
  });

  test('at every interval, as often as it may in the whole conversation', async () => {
    const agentId = await publishedAgent(app, FOLLOWS_UP);
    const id = await quiet(agentId);
    clock.advance(2 * HOUR_MS);
    await sendDue(app);
    expect((await planOf(app, id)).at?.getTime()).toBe(clock.now().getTime() + 10 * MINUTE_MS);
    clock.advance(10 * MINUTE_MS);
    await sendDue(app);
    clock.advance(5 * MINUTE_MS);
    await send(app, agentId, { conversationId: id, content: 'Not yet.' }).expect(200);
    expect((await planOf(app, id)).at?.getTime()).toBe(clock.now().getTime() + 2 * HOUR_MS);
    clock.advance(2 * HOUR_MS);
    await sendDue(app);
    expect(await planOf(app, id)).toEqual({ at: null, sent: 3 });
    await send(app, agentId, { conversationId: id, content: 'Still not.' }).expect(200);
    expect(await planOf(app, id)).toEqual({ at: null, sent: 3 });
    expect(server.requests).toHaveLength(6);
  });

  test('through the queue, once, though two replicas look for what is due', async () => {
    const id = await quiet();
    clock.advance(2 * HOUR_MS);
    const settings = { database: app.database, jobs: true, models: server.settings(), clock };
    const replicas = await Promise.all([startTestApp(settings), startTestApp(settings)]);
    try {
      await until(
        () => planOf(app, id),
        ({ sent }) => sent > 0,
      );
    } finally {
      await Promise.all(replicas.map((replica) => replica.close()));
    }
    expect(await transcript(app, id)).toHaveLength(3);
    expect(server.requests).toHaveLength(2);
  });

  test('once, though two replicas take it up at the same moment', async () => {
    const id = await quiet();
    clock.advance(2 * HOUR_MS);
    const other = await startTestApp({ database: app.database, models: server.settings(), clock });
    try {
      const [due] = await sweep(app);
      if (!due) throw new Error('Nothing is due.');
      await Promise.all([run(app, due), run(other, due), run(app, due), run(other, due)]);
    } finally {
      await other.close();
    }
    expect(await transcript(app, id)).toHaveLength(3);
    expect(server.requests).toHaveLength(2);
    expect(await planOf(app, id)).toMatchObject({ sent: 1 });
  });
});

describe('it keeps silent', () => {
  test('when the user has written, even since it was found to be due', async () => {
    const agentId = await publishedAgent(app, FOLLOWS_UP);
    const id = await quiet(agentId);
    clock.advance(2 * HOUR_MS);
    const [due] = await sweep(app);
    await send(app, agentId, { conversationId: id, content: 'I am back.' }).expect(200);
    expect(await sweep(app)).toEqual([]);
    if (due) await run(app, due);
    expect(due).toBeDefined();
    expect(server.requests).toHaveLength(2);
    expect(await planOf(app, id)).toEqual({ at: new Date(clock.now().getTime() + 2 * HOUR_MS), sent: 0 });
  });

  test('while the feature is off', async () => {
    const id = await quiet(await publishedAgent(app, { ...FOLLOWS_UP, followUpEnabled: false }));
    expect(await planOf(app, id)).toEqual({ at: null, sent: 0 });
  });

  const set = (columns: { is_paused?: boolean; is_ended?: boolean }) => (conversationId: string) =>
    app.workspace.db.updateTable('conversations').set(columns).where('id', '=', conversationId).execute();
  const status = (value: 'inactive' | 'archived') => (_id: string, agentId: string) =>
    setStatus(app.workspace, agentId, value);
  const states = {
    'a paused conversation': set({ is_paused: true }),
    'an ended conversation': set({ is_ended: true }),
    'a deleted conversation': (id: string) =>
      softDeleteConversation(app.workspace.db, app.workspace.workspaceId, id, clock.now()),
    'a conversation with an inactive agent': status('inactive'),
    'a conversation with an archived agent': status('archived'),
    'a conversation with a deleted agent': (_id: string, agentId: string) => app.api('delete', `/agents/${agentId}`),
    'a conversation in a workspace that is gone': () =>
      app.database.database.system.updateTable('workspaces').set({ deleted_at: clock.now() }).execute(),
  };

  test.each(Object.entries(states))('in %s', async (_what, change) => {
    const agentId = await publishedAgent(app, FOLLOWS_UP);
    const id = await quiet(agentId);
    clock.advance(2 * HOUR_MS);
    const [due] = await sweep(app);
    await change(id, agentId);
    if (due) await run(app, due);
    expect(due).toMatchObject({ conversationId: id });
    expect(await sweep(app)).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  const { 'a deleted conversation': _deleted, ...kept } = states;

  test.each(Object.entries(kept))(
    'in %s also when it goes on later: what came due is dropped',
    async (_what, change) => {
      const agentId = await publishedAgent(app, FOLLOWS_UP);
      const id = await quiet(agentId);
      await change(id, agentId);
      clock.advance(2 * HOUR_MS);
      expect(await sweep(app)).toEqual([]);
      expect(await planOf(app, id)).toEqual({ at: null, sent: 0 });
    },
  );

  test('but not in a conversation that goes on before it is due', async () => {
    const id = await quiet();
    await set({ is_paused: true })(id);
    clock.advance(HOUR_MS);
    expect(await sweep(app)).toEqual([]);
    await set({ is_paused: false })(id);
    clock.advance(HOUR_MS);
    expect(await sweep(app)).toMatchObject([{ conversationId: id }]);
  });

  test('as the version says that was published since', async () => {
    const agentId = await draftAgent(app, FOLLOWS_UP);
    await publish(app, agentId);
    const id = await quiet(agentId);
    await app.api('patch', `/agents/${agentId}`).send({ followUpEnabled: false }).expect(200);
    await publish(app, agentId);
    clock.advance(2 * HOUR_MS);
    await sendDue(app);
    expect(await planOf(app, id)).toEqual({ at: null, sent: 0 });
    expect(server.requests).toHaveLength(1);
  });

  test('in a conversation that a turn holds at the moment', async () => {
    const id = await quiet();
    clock.advance(2 * HOUR_MS);
    await app.workspace.db
      .updateTable('conversations')
      .set({ turn_id: id, turn_expires_at: new Date(Date.now() + HOUR_MS) })
      .where('id', '=', id)
      .execute();
    expect(await sweep(app)).toEqual([]);
  });
});
