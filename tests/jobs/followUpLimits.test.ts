import { newId } from '../../core/ids.ts';
import { findDueFollowUps } from '../../db/queries/conversations/followUps.ts';
import { begun, publishedAgent, transcript } from '../http/messages/turns.ts';
import { adminQuery } from '../support/db/database.ts';
import { startTestApp } from '../support/http/app.ts';
import {
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

const setWorkspace = (columns: { time_zone?: string; operation_limit?: number | null }) =>
  here.app.database.database.system
    .updateTable('workspaces')
    .set(columns)
    .where('id', '=', here.app.workspace.workspaceId)
    .execute();

describe('business hours', () => {
  const OFFICE = { ...FOLLOWS_UP, followUpBusinessHoursStart: '09:00:00', followUpBusinessHoursEnd: '18:00:00' };
  /** 09:00 in Kolkata is 03:30 in UTC. */
  const NEXT_MORNING = new Date('2038-05-06T03:30:00.000Z');
  const setClock = (time: string) => here.clock.advance(Date.parse(time) - here.clock.now().getTime());

  test('postpone a follow-up outside of them to their next start, in the time zone of the workspace', async () => {
    await setWorkspace({ time_zone: 'Asia/Kolkata' });
    setClock('2038-05-05T11:00:00Z');
    const id = await begun(here.app, await publishedAgent(here.app, OFFICE));
    expect(await planOf(here.app, id)).toEqual({ at: NEXT_MORNING, sent: 0 });
    here.clock.advance(2 * HOUR_MS);
    expect(await sweep(here.app)).toEqual([]);
    setClock('2038-05-06T03:30:00Z');
    await sendDue(here.app);
    expect(await transcript(here.app, id)).toHaveLength(3);
  });

  test('postpone a follow-up that was due within them and would be sent after them', async () => {
    await setWorkspace({ time_zone: 'Asia/Kolkata' });
    setClock('2038-05-05T10:25:00Z');
    const id = await begun(here.app, await publishedAgent(here.app, OFFICE));
    expect(await planOf(here.app, id)).toEqual({ at: new Date('2038-05-05T12:25:00.000Z'), sent: 0 });
    setClock('2038-05-05T12:31:00Z');
    await sendDue(here.app);
    expect(await planOf(here.app, id)).toEqual({ at: NEXT_MORNING, sent: 0 });
    expect(here.server.requests).toHaveLength(1);
  });
});

describe('the limit of operations', () => {
  test('postpones a follow-up, which is neither retried at every sweep nor counted', async () => {
    await setWorkspace({ operation_limit: 1 });
    const id = await begun(here.app, await publishedAgent(here.app, FOLLOWS_UP));
    here.clock.advance(2 * HOUR_MS);
    await sendDue(here.app);
    expect(here.server.requests).toHaveLength(1);
    const { at, sent } = await planOf(here.app, id);
    expect(sent).toBe(0);
    expect(at?.getTime()).toBeGreaterThanOrEqual(here.clock.now().getTime() + 10 * MINUTE_MS);
    expect(await sweep(here.app)).toEqual([]);
    await setWorkspace({ operation_limit: null });
    here.clock.advance((at?.getTime() ?? 0) - here.clock.now().getTime());
    await sendDue(here.app);
    expect(await transcript(here.app, id)).toHaveLength(3);
  });
});

describe('a follow-up that fails', () => {
  test('is retried later, and given up after three attempts', async () => {
    const id = await begun(here.app, await publishedAgent(here.app, FOLLOWS_UP));
    here.server.fallback = { status: 400, message: 'No.' };
    here.clock.advance(2 * HOUR_MS);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const [due] = await sweep(here.app);
      if (!due) throw new Error('Nothing is due.');
      await expect(run(here.app, due)).rejects.toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
      expect(await sweep(here.app)).toEqual([]);
      here.clock.advance(15 * MINUTE_MS);
    }
    await sendDue(here.app);
    expect(here.server.requests).toHaveLength(4);
    expect(await planOf(here.app, id)).toEqual({ at: null, sent: 0 });
  });

  test('is sent with the next attempt, and its failures do not count any more', async () => {
    const id = await begun(here.app, await publishedAgent(here.app, FOLLOWS_UP));
    for (let round = 0; round < 3; round += 1) {
      here.clock.advance(2 * HOUR_MS);
      here.server.script({ status: 400, message: 'No.' }, { status: 400, message: 'No.' });
      for (let failure = 0; failure < 2; failure += 1) {
        await sendDue(here.app).catch(() => {});
        here.clock.advance(15 * MINUTE_MS);
      }
      await sendDue(here.app);
      expect(await planOf(here.app, id)).toMatchObject({ sent: round + 1 });
    }
  });

  test('is given up because of its own failures only, not because of those of other turns', async () => {
    const agentId = await publishedAgent(here.app, FOLLOWS_UP);
    const id = await begun(here.app, agentId);
    here.clock.advance(2 * HOUR_MS);
    const turn = {
      workspace_id: here.app.workspace.workspaceId,
      conversation_id: id,
      agent_id: agentId,
      version_number: 1,
    };
    const failure = {
      kind: 'continuation',
      status: 'failed',
      started_at: here.clock.now(),
      ended_at: here.clock.now(),
    } as const;
    const failures = Array.from({ length: 3 }, () => ({ ...turn, ...failure, id: newId() }));
    await here.app.workspace.db.insertInto('turns').values(failures).execute();
    await sendDue(here.app);
    expect(await planOf(here.app, id)).toMatchObject({ sent: 1 });
  });

  test('before its turn begins is not retried at every sweep either', async () => {
    const id = await begun(here.app, await publishedAgent(here.app, FOLLOWS_UP));
    here.clock.advance(2 * HOUR_MS);
    await adminQuery(
      `update agent_versions set snapshot = jsonb_set(snapshot, '{httpTools}', '7')`,
      here.app.database.name,
    );
    // The service has not read the version yet.
    const other = await startTestApp({
      database: here.app.database,
      models: here.server.settings(),
      clock: here.clock,
    });
    try {
      await expect(sendDue(other)).rejects.toThrow(TypeError);
    } finally {
      await other.close();
    }
    expect(await planOf(here.app, id)).toEqual({ at: new Date(here.clock.now().getTime() + 15 * MINUTE_MS), sent: 0 });
  });
});

test('a workspace with many due follow-ups delays no other workspace', async () => {
  const own = await publishedAgent(here.app, FOLLOWS_UP);
  for (let count = 0; count < 3; count += 1) await begun(here.app, own);
  here.clock.advance(MINUTE_MS);
  const { apiKey } = here.app.stranger;
  const other = await begun(here.app, await publishedAgent(here.app, FOLLOWS_UP, apiKey), 'Hello.', apiKey);
  here.clock.advance(2 * HOUR_MS);
  const now = here.clock.now();
  const { due } = await findDueFollowUps(here.app.database.database.system, { now, horizon: now, limit: 2 });
  expect(due.map(({ conversationId }) => conversationId)).toContain(other);
});
