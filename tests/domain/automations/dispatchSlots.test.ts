import { sql } from 'kysely';
import { newId } from '../../../core/ids.ts';
import { findDueAutomations, findNextSlotTime } from '../../../db/queries/automations/slots.ts';
import { advanceOf, dispatchSlots } from '../../../domain/automations/dispatchSlots.ts';
import { spreadMs } from '../../../domain/automations/schedule.ts';
import { runAutomation } from '../../../jobs/runAutomation.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { automation, contextOf, storedAutomation } from '../../support/automations/executions.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NEVER = new AbortController().signal;

let app: TestApp;
let clock: TestClock;
let agentId: string;
/** 09:00 UTC of a day soon, at which the clock stands. */
let nine: Date;

beforeEach(async () => {
  clock = new TestClock();
  app = await startTestApp({ clock });
  agentId = (await makeAgent(app)).publicId;
  nine = new Date(clock.now());
  nine.setUTCHours(33, 0, 0, 0);
  clock.advance(nine.getTime() - clock.now().getTime());
});
afterEach(() => app.close());

const at = (ms: number) => new Date(nine.getTime() + ms);

/** An automation with a slot at nine; it is begun at the end of its spread. */
async function scheduled(schedule: string, { nextRunAt = nine, of = app }: { nextRunAt?: Date; of?: TestApp } = {}) {
  const id = await storedAutomation(of, agentId, { schedule, nextRunAt });
  const dueAt = new Date(nextRunAt.getTime() + spreadMs(id));
  await of.workspace.db.updateTable('automations').set({ due_at: dueAt }).where('id', '=', id).execute();
  return id;
}

async function dispatch(): Promise<{ workspaceId: string; executionId: string }[]> {
  const all: { workspaceId: string; executionId: string }[] = [];
  const dispatched = async (some: typeof all) => void all.push(...some);
  await dispatchSlots({ database: app.database.database, clock, dispatched }, NEVER);
  return all;
}

/** The executions of an automation by their slots: how far from nine, and what became of them. */
async function slotsOf(id: string) {
  const rows = await app.workspace.db
    .selectFrom('automation_executions')
    .selectAll()
    .where('automation_id', '=', id)
    .orderBy('slot')
    .execute();
  return rows.map(({ slot, status, error_message }) => ({
    minutes: ((slot?.getTime() ?? 0) - nine.getTime()) / MINUTE_MS,
    status,
    message: error_message,
  }));
}

const RUN = { status: 'DISPATCHED', message: null };
const skipped = (text = 'Skipped: it was due at ') => ({ status: 'FAILED', message: expect.stringContaining(text) });

describe('a slot', () => {
  test('is dispatched within half a minute and never early, and the next one is planned with it', async () => {
    const id = await scheduled('0 9 * * *');
    clock.advance(spreadMs(id) - 1);
    expect(await dispatch()).toEqual([]);
    clock.advance(1);
    expect(spreadMs(id)).toBeLessThan(30 * SECOND_MS);
    const [found, ...others] = await dispatch();
    expect(others).toEqual([]);
    const row = await app.workspace.db.selectFrom('automation_executions').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      id: found?.executionId,
      automation_id: id,
      slot: nine,
      triggered_by: 'schedule',
      status: 'DISPATCHED',
      started_at: clock.now(),
    });
    expect(await automation(app, id)).toMatchObject({
      next_run_at: at(DAY_MS),
      due_at: at(DAY_MS + spreadMs(id)),
      failures_in_row: 0,
      last_run_at: null,
    });
    expect(await findNextSlotTime(app.database.database.system, at(2 * DAY_MS))).toEqual(at(DAY_MS + spreadMs(id)));
    expect(await findNextSlotTime(app.database.database.system, at(DAY_MS))).toBeUndefined();
    expect(await dispatch()).toEqual([]);
  });

  test('has one execution, though several processes dispatch it at the same moment', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => scheduled('0 9 * * *')));
    clock.advance(MINUTE_MS);
    const found = (await Promise.all([dispatch(), dispatch(), dispatch(), dispatch()])).flat();
    // What one process works on is skipped by the others.
    found.push(...(await dispatch()));
    expect(found).toHaveLength(ids.length);
    expect(new Set(found.map(({ executionId }) => executionId)).size).toBe(ids.length);
    for (const id of ids) expect(await slotsOf(id)).toEqual([{ minutes: 0, ...RUN }]);
  });

  test('of a moment is begun over half a minute', () => {
    const spreads = Array.from({ length: 2000 }, () => spreadMs(newId()));
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const within = spreads.filter((ms) => Math.floor(ms / 3000) === tenth);
      expect(within.length).toBeGreaterThan(100);
    }
  });
});

describe('a slot that was missed', () => {
  test('is run once when it is late by less than an hour', async () => {
    const id = await scheduled('0 9 * * *');
    clock.advance(spreadMs(id) + HOUR_MS);
    expect(await dispatch()).toHaveLength(1);
    expect(await slotsOf(id)).toEqual([{ minutes: 0, ...RUN }]);
    expect(await automation(app, id)).toMatchObject({ next_run_at: at(DAY_MS) });
  });

  test('is skipped when it is late by more than an hour, and the execution says so', async () => {
    const id = await scheduled('0 9 * * *');
    clock.advance(spreadMs(id) + HOUR_MS + 1);
    expect(await dispatch()).toEqual([]);
    expect(await slotsOf(id)).toEqual([{ minutes: 0, ...skipped() }]);
    expect(await automation(app, id)).toMatchObject({
      next_run_at: at(DAY_MS),
      failures_in_row: 0,
      status: 'active',
      last_run_at: null,
    });
  });

  test('is skipped when its interval is over: then the next one is run', async () => {
    const id = await scheduled('*/10 * * * *');
    clock.advance(35 * MINUTE_MS);
    expect(await dispatch()).toHaveLength(1);
    expect(await slotsOf(id)).toEqual([
      { minutes: 0, ...skipped() },
      { minutes: 10, ...skipped() },
      { minutes: 20, ...skipped() },
      { minutes: 30, ...RUN },
    ]);
    expect(await automation(app, id)).toMatchObject({ next_run_at: at(40 * MINUTE_MS) });
  });

  test('with many others is told in few records, and takes little time', async () => {
    const id = await scheduled('* * * * *');
    clock.advance(30 * DAY_MS + 30 * SECOND_MS);
    expect(await dispatch()).toHaveLength(1);
    const slots = await slotsOf(id);
    expect(slots.slice(0, -2)).toEqual(slots.slice(0, -2).map((_, minutes) => ({ minutes, ...skipped() })));
    expect(slots.length).toBe(11);
    const last = 30 * 24 * 60;
    expect(slots.at(-2)).toEqual({
      minutes: 9,
      ...skipped(`So were all slots between it and ${at(last * MINUTE_MS).toISOString()}.`),
    });
    expect(slots.at(-1)).toEqual({ minutes: last, ...RUN });
    expect(await automation(app, id)).toMatchObject({ next_run_at: at((last + 1) * MINUTE_MS) });
  });

  test.each([
    ['every minute, at the 11th slot', '* * * * *', 10 * MINUTE_MS, 11, 10],
    ['every minute, at the 12th slot', '* * * * *', 11 * MINUTE_MS, 11, 11],
    ['every day for a year', '0 9 * * *', 365 * DAY_MS + 2 * HOUR_MS, 11, 365 * 24 * 60],
    ['one minute a year', '0 9 1 1 *', 3 * 366 * DAY_MS, undefined, undefined],
  ])('is the last one that is listed: %s', (_what, schedule, lateMs, count, lastMinutes) => {
    const id = newId();
    const now = at(lateMs + spreadMs(id));
    const { executions, next } = advanceOf({ workspaceId: newId(), id, schedule, timezone: null, slot: nine }, now);
    const slots = executions.map(({ slot }) => slot.getTime());
    expect(slots).toEqual([...new Set(slots)].toSorted((one, other) => one - other));
    if (count !== undefined) expect(slots).toHaveLength(count);
    if (lastMinutes !== undefined) expect(slots.at(-1)).toBe(at(lastMinutes * MINUTE_MS).getTime());
    expect(next?.slot.getTime()).toBeGreaterThan(now.getTime() - spreadMs(id));
  });
});

describe('a slot that comes due', () => {
  test.each(['DISPATCHED', 'RUNNING'] as const)('while an execution is %s is skipped and recorded', async (status) => {
    const id = await scheduled('*/10 * * * *');
    clock.advance(spreadMs(id));
    await dispatch();
    await app.workspace.db.updateTable('automation_executions').set({ status }).execute();
    clock.advance(10 * MINUTE_MS);
    expect(await dispatch()).toEqual([]);
    expect(await slotsOf(id)).toEqual([
      { minutes: 0, status, message: null },
      { minutes: 10, ...skipped('Skipped: the execution before it had not ended.') },
    ]);
    await app.workspace.db
      .updateTable('automation_executions')
      .set({ status: 'COMPLETED', completed_at: clock.now() })
      .where('status', '=', status)
      .execute();
    clock.advance(10 * MINUTE_MS);
    expect(await dispatch()).toHaveLength(1);
  });

  test('when its schedule cannot be read any more makes the automation inactive, and delays no other', async () => {
    const broken = await scheduled('0 9 * * *');
    await app.workspace.db.updateTable('automations').set({ timezone: 'Europe/Atlantis' }).execute();
    const other = await scheduled('0 9 * * *');
    clock.advance(MINUTE_MS);
    expect(await dispatch()).toHaveLength(1);
    expect(await slotsOf(other)).toEqual([{ minutes: 0, ...RUN }]);
    expect(await slotsOf(broken)).toEqual([{ minutes: 0, ...skipped('cannot be read any more') }]);
    expect(await automation(app, broken)).toMatchObject({
      status: 'inactive',
      inactive_reason: expect.stringContaining('time zone'),
      next_run_at: null,
      due_at: null,
    });
  });
});

test('a workspace with thousands of due slots lets others take turns', async () => {
  const { workspaceId, db } = app.workspace;
  await sql`insert into automations (workspace_id, id, agent_id, name, prompt, hitl_mode, trigger_mode, schedule, timezone, next_run_at, due_at)
    select ${workspaceId}, gen_random_uuid(), ${agentId}, 'Many ' || i, 'Go.', 'auto_approve', 'schedule', '0 9 * * *', 'UTC', ${nine}, ${nine}
    from generate_series(1, 2000) i`.execute(db);
  const stranger = { ...app, workspace: app.stranger };
  const theirs = (await makeAgent(app, {}, app.stranger.apiKey)).publicId;
  for (let made = 0; made < 3; made += 1) {
    await storedAutomation(stranger, theirs, {
      schedule: '0 9 * * *',
      nextRunAt: nine,
      dueAt: at(20 * SECOND_MS),
    });
  }
  clock.advance(MINUTE_MS);
  const theirOwn = (all: { workspaceId: string }[]) =>
    all.filter((each) => each.workspaceId === app.stranger.workspaceId);
  expect(theirOwn(await findDueAutomations(app.database.database.system, clock.now(), 6))).toHaveLength(3);
  const first = await dispatch();
  expect(theirOwn(first)).toHaveLength(3);
  expect(first).toHaveLength(3 + 100);
  // What cannot be begun yet stays due, and keeps no other workspace waiting.
  expect((await dispatch()).length + (await dispatch()).length).toBe(100 + 56);
  expect(await dispatch()).toEqual([]);
  expect(await findNextSlotTime(app.database.database.system, clock.now())).toBeDefined();
  await storedAutomation(stranger, theirs, { schedule: '0 9 * * *', nextRunAt: nine });
  expect(theirOwn(await dispatch())).toHaveLength(1);
  await sql`update automation_executions set status = 'RUNNING' where id in (select id from automation_executions limit 30)`.execute(
    db,
  );
  expect(await dispatch()).toHaveLength(30);
  // Those of a process that died before it queued them.
  const { due: waiting, next } = await runAutomation.sweep(contextOf(app));
  expect(theirOwn(waiting)).toHaveLength(4);
  expect(waiting).toHaveLength(256);
  expect(next).toBeUndefined();
  clock.advance(2 * SECOND_MS + 1);
  expect((await runAutomation.sweep(contextOf(app))).next).toEqual(new Date(0));
});
