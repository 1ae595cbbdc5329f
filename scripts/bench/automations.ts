import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase } from '../../db/connect.ts';
import { findDueAutomations, findNextSlotTime } from '../../db/queries/automations/slots.ts';
import { type Child, residentBytes } from './children.ts';
import type { Figure } from './report.ts';
import { median, quantile } from './stats.ts';
import type { World } from './world.ts';

const MODEL_DELAY_MS = 2_000;
const ACTIVE = 100_000;
const DUE_AMONG_THEM = 50;
const LOOKS = 50;
const WATCHED_MS = 20_000;
const IN_ONE_MINUTE = 1_000;
const BACKLOG = 10_000;
const OF_ANOTHER = 20;
/** The slots of the fairness run come due this long after the backlog, one after the other. */
const ANOTHER_AFTER_MS = 2_000;
const ANOTHER_EVERY_MS = 500;
const MEASURE = 'automations';
const MIB = 1024 * 1024;

/** Measures schedules: how due ones are found, how soon many are begun, and what a backlog of one workspace does to another. */
export async function measureAutomations(world: World): Promise<Figure[]> {
  const { timedModels: models } = world;
  models.delayMs = MODEL_DELAY_MS;
  try {
    return [...(await measureDue(world)), ...(await measureMinute(world)), ...(await measureBacklog(world))];
  } finally {
    models.delayMs = 0;
    await world.query('update automations set next_run_at = null, due_at = null');
  }
}

/** SQL: stores automations of the agent that are due by the given expression, each a number `i` from 1. */
async function store(world: World, agentId: string, count: number, dueAt: string): Promise<void> {
  await world.query(`insert into automations (workspace_id, id, agent_id, name, prompt, hitl_mode, trigger_mode, schedule, timezone,
      next_run_at, due_at)
    select a.workspace_id, gen_random_uuid(), a.id, gen_random_uuid()::text, 'Count the orders.', 'auto_approve', 'schedule', '0 0 1 1 *',
      'UTC', ${dueAt}, ${dueAt}
    from agents a, generate_series(1, ${count}) i where a.id = '${agentId}'`);
}

async function measureDue(world: World): Promise<Figure[]> {
  const worker = await world.startService({ env: { GUILDHALL_ROLE: 'worker' } });
  const resident: number[] = [];
  const watch = async () => {
    await sleep(WATCHED_MS);
    resident.push(residentBytes(worker.pid) / MIB);
  };
  await watch();
  // Soon enough that the beat knows of them, and later than this measurement.
  await store(world, world.agentId, ACTIVE, `now() + interval '5 minutes' + i * interval '30 milliseconds'`);
  await watch();
  await worker.stop();
  const [without = 0, with_ = 0] = resident;
  const database = connectDatabase(world.databaseUrl, { poolSize: 4 });
  const times: number[] = [];
  try {
    await store(world, world.agentId, DUE_AMONG_THEM, 'now()');
    await world.query('analyze automations');
    for (let look = 0; look < LOOKS; look += 1) {
      const startedAt = performance.now();
      const now = new Date();
      await findNextSlotTime(database.system, new Date(now.getTime() + 600_000));
      const due = await findDueAutomations(database.system, now, 500);
      times.push(performance.now() - startedAt);
      if (due.length !== DUE_AMONG_THEM) throw new Error(`${due.length} automations were due.`);
    }
  } finally {
    await database.end();
    await world.query('delete from automations');
  }
  return [
    {
      measure: MEASURE,
      name: `due ones among ${ACTIVE} active automations, p50`,
      value: median(times),
      unit: 'ms',
      target: { limit: 20, is: 'at most' },
      note: `${DUE_AMONG_THEM} due, p99 ${quantile(times, 0.99).toFixed(1)} ms, with the next one's time`,
    },
    {
      measure: MEASURE,
      name: `memory of a worker with ${ACTIVE} active automations, growth`,
      value: with_ - without,
      unit: 'MiB',
      target: { limit: 20, is: 'at most' },
      note: `${without.toFixed(0)} MiB without them, ${with_.toFixed(0)} MiB after ${WATCHED_MS / 1000} s with them`,
    },
  ];
}

async function measureMinute(world: World): Promise<Figure[]> {
  const worker = await world.startService({ env: { GUILDHALL_ROLE: 'worker' } });
  const slot = Date.now() + 5_000;
  const at = `to_timestamp(${slot / 1000})`;
  await store(world, world.agentId, IN_ONE_MINUTE, `${at} + i * interval '${30_000 / IN_ONE_MINUTE} milliseconds'`);
  await world.query(`select pg_notify('guildhall_slot_planned', '${new Date(slot).toISOString()}')`);
  const atOnce = await until(
    world,
    worker,
    `select count(*) = ${IN_ONE_MINUTE} as done from automation_executions where status = 'COMPLETED'`,
  );
  const [row] = await world.query<{ late: number; early: number }>(`select
    extract(epoch from max(begun_at) - ${at})::float8 as late,
    (select count(*)::int from automation_executions e where e.begun_at < e.slot) as early from automation_executions`);
  await worker.stop();
  await world.query('delete from automations');
  return [
    {
      measure: MEASURE,
      name: `${IN_ONE_MINUTE} due in one minute, model ${MODEL_DELAY_MS / 1000} s: the last one begun`,
      value: row?.late ?? Number.POSITIVE_INFINITY,
      unit: 's',
      target: { limit: 60, is: 'at most' },
      note: `one workspace on one worker, spread over 30 s, ${row?.early} begun early, at most ${atOnce} at once`,
    },
  ];
}

async function measureBacklog(world: World): Promise<Figure[]> {
  const api = await world.startService({ env: { GUILDHALL_ROLE: 'api' } });
  const { agentId } = await world.addWorkspace(api);
  await api.stop();
  const slot = Date.now() + 3_000;
  const at = `to_timestamp(${slot / 1000})`;
  await store(world, world.agentId, BACKLOG, at);
  const another = `${at} + interval '${ANOTHER_AFTER_MS} milliseconds' + i * interval '${ANOTHER_EVERY_MS} milliseconds'`;
  await store(world, agentId, OF_ANOTHER, another);
  const worker = await world.startService({ env: { GUILDHALL_ROLE: 'worker' } });
  const own = `from automation_executions e join automations a on a.id = e.automation_id where a.agent_id = '${agentId}' and e.begun_at is not null`;
  const atOnce = await until(world, worker, `select count(*) = ${OF_ANOTHER} as done ${own}`);
  const late = (
    await world.query<{ late: number }>(`select extract(epoch from e.begun_at - e.slot)::float8 as late ${own}`)
  ).map((row) => row.late);
  const [row] = await world.query<{ left: number }>(
    `select count(*)::int as left from automation_executions where status = 'DISPATCHED'`,
  );
  await worker.stop();
  await world.query('delete from automations');
  return [
    {
      measure: MEASURE,
      name: `a slot beside a backlog of ${BACKLOG} of another workspace, latest`,
      value: Math.max(...late),
      unit: 's',
      target: { limit: 5, is: 'at most' },
      note: `${OF_ANOTHER} slots, p50 ${median(late).toFixed(1)} s; ${row?.left} of the backlog had not begun, at most ${atOnce} at once`,
    },
  ];
}

/** Waits until the query says that it is done, and answers with the most model calls that ran at once. */
async function until(world: World, worker: Child, text: string): Promise<number> {
  let atOnce = 0;
  for (const deadline = performance.now() + 300_000; performance.now() < deadline; await sleep(200)) {
    atOnce = Math.max(atOnce, world.timedModels.running);
    const [row] = await world.query<{ done: boolean }>(text);
    if (row?.done) return atOnce;
  }
  throw new Error(`The worker ${worker.pid} did not get done: ${text}`);
}
