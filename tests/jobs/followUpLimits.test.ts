import { newId } from '../../core/ids.ts';
import { dueFollowUps } from '../../db/queries/followUps.ts';
import { begun, publishedAgent, transcript } from '../http/messages/turns.ts';
import { startTestApp, type TestApp, TestClock } from '../support/app.ts';
import { adminQuery } from '../support/database.ts';
import { FOLLOWS_UP, HOUR_MS, MINUTE_MS, planOf, run, sendDue, sweep } from '../support/followUps.ts';
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

const setWorkspace = (columns: { time_zone?: string; operation_limit?: number | null }) =>
  app.database.database.system
    .updateTable('workspaces')
    .set(columns)
    .where('id', '=', app.workspace.workspaceId)
    .execute();

describe('business hours', () => {
  const OFFICE = { ...FOLLOWS_UP, followUpBusinessHoursStart: '09:00:00', followUpBusinessHoursEnd: '18:00:00' };
  /** Nine o'clock in Kolkata is half past three in UTC. */
  const NEXT_MORNING = new Date('2038-05-06T03:30:00.000Z');
  const setClock = (time: string) => clock.advance(Date.parse(time) - clock.now().getTime());

  test('put what falls outside of them off to their next start, in the time zone of the workspace', async () => {
    await setWorkspace({ time_zone: 'Asia/Kolkata' });
    setClock('2038-05-05T11:00:00Z');
    const id = await begun(app, await publishedAgent(app, OFFICE));
    expect(await planOf(app, id)).toEqual({ at: NEXT_MORNING, sent: 0 });
    clock.advance(2 * HOUR_MS);
    expect(await sweep(app)).toEqual([]);
    setClock('2038-05-06T03:30:00Z');
    await sendDue(app);
    expect(await transcript(app, id)).toHaveLength(3);
  });

  test('put off what was due within them and comes to be sent after them', async () => {
    await setWorkspace({ time_zone: 'Asia/Kolkata' });
    setClock('2038-05-05T10:25:00Z');
    const id = await begun(app, await publishedAgent(app, OFFICE));
    expect(await planOf(app, id)).toEqual({ at: new Date('2038-05-05T12:25:00.000Z'), sent: 0 });
    setClock('2038-05-05T12:31:00Z');
    await sendDue(app);
    expect(await planOf(app, id)).toEqual({ at: NEXT_MORNING, sent: 0 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the limit of operations', () => {
  test('holds a follow-up back, which is not tried again at every sweep, nor counted', async () => {
    await setWorkspace({ operation_limit: 1 });
    const id = await begun(app, await publishedAgent(app, FOLLOWS_UP));
    clock.advance(2 * HOUR_MS);
    await sendDue(app);
    expect(server.requests).toHaveLength(1);
    const { at, sent } = await planOf(app, id);
    expect(sent).toBe(0);
    expect(at?.getTime()).toBeGreaterThanOrEqual(clock.now().getTime() + 10 * MINUTE_MS);
    expect(await sweep(app)).toEqual([]);
    await setWorkspace({ operation_limit: null });
    clock.advance((at?.getTime() ?? 0) - clock.now().getTime());
    await sendDue(app);
    expect(await transcript(app, id)).toHaveLength(3);
  });
});

describe('a follow-up that fails', () => {
  test('is tried again after a while, and given up after three times', async () => {
    const id = await begun(app, await publishedAgent(app, FOLLOWS_UP));
    server.fallback = { status: 400, message: 'No.' };
    clock.advance(2 * HOUR_MS);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const [due] = await sweep(app);
      if (!due) throw new Error('Nothing is due.');
      await expect(run(app, due)).rejects.toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
      expect(await sweep(app)).toEqual([]);
      clock.advance(15 * MINUTE_MS);
    }
    await sendDue(app);
    expect(server.requests).toHaveLength(4);
    expect(await planOf(app, id)).toEqual({ at: null, sent: 0 });
  });

  test('is sent the next time, and its failures are forgotten', async () => {
    const id = await begun(app, await publishedAgent(app, FOLLOWS_UP));
    for (let round = 0; round < 3; round += 1) {
      clock.advance(2 * HOUR_MS);
      server.script({ status: 400, message: 'No.' }, { status: 400, message: 'No.' });
      for (let failure = 0; failure < 2; failure += 1) {
        await sendDue(app).catch(() => {});
        clock.advance(15 * MINUTE_MS);
      }
      await sendDue(app);
      expect(await planOf(app, id)).toMatchObject({ sent: round + 1 });
    }
  });

  test('is given up for its own failures only, not for those of other turns', async () => {
    const agentId = await publishedAgent(app, FOLLOWS_UP);
    const id = await begun(app, agentId);
    clock.advance(2 * HOUR_MS);
    const turn = { workspace_id: app.workspace.workspaceId, conversation_id: id, agent_id: agentId, version_number: 1 };
    const failure = { kind: 'continuation', status: 'failed', started_at: clock.now(), ended_at: clock.now() } as const;
    const failures = Array.from({ length: 3 }, () => ({ ...turn, ...failure, id: newId() }));
    await app.workspace.db.insertInto('turns').values(failures).execute();
    await sendDue(app);
    expect(await planOf(app, id)).toMatchObject({ sent: 1 });
  });

  test('before it has begun is not tried again at every sweep either', async () => {
    const id = await begun(app, await publishedAgent(app, FOLLOWS_UP));
    clock.advance(2 * HOUR_MS);
    await adminQuery(`update agent_versions set snapshot = jsonb_set(snapshot, '{httpTools}', '7')`, app.database.name);
    // It has not read the version yet.
    const other = await startTestApp({ database: app.database, models: server.settings(), clock });
    try {
      await expect(sendDue(other)).rejects.toThrow(TypeError);
    } finally {
      await other.close();
    }
    expect(await planOf(app, id)).toEqual({ at: new Date(clock.now().getTime() + 15 * MINUTE_MS), sent: 0 });
  });
});

test('one workspace with many that are due keeps no other waiting', async () => {
  const own = await publishedAgent(app, FOLLOWS_UP);
  for (let count = 0; count < 3; count += 1) await begun(app, own);
  clock.advance(MINUTE_MS);
  const { apiKey } = app.stranger;
  const other = await begun(app, await publishedAgent(app, FOLLOWS_UP, apiKey), 'Hello.', apiKey);
  clock.advance(2 * HOUR_MS);
  const due = await dueFollowUps(app.database.database.system, clock.now(), 2);
  expect(due.map(({ conversationId }) => conversationId)).toContain(other);
});
