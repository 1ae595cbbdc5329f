import { pino } from 'pino';
import { slotPlanned } from '../../db/events.ts';
import { type SlotBeat, startSlotBeat } from '../../jobs/slotBeat.ts';
import { publishedAgent } from '../http/messages/turns.ts';
import { storedAutomation } from '../support/automations/executions.ts';
import { startTestApp, TestClock } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import { startModelServer } from '../support/servers/modelServer.ts';

const MINUTE_MS = 60_000;
const logger = pino({ level: 'silent' });

/** A beat over slots that are in memory; counts what it asks. */
function beating(clock: TestClock, due: Date[], fails: () => boolean = () => false) {
  const asked = { next: 0, dispatch: 0 };
  const begun: Date[] = [];
  const beat = startSlotBeat({
    async dispatch() {
      asked.dispatch += 1;
      if (fails()) throw new Error('The database is away.');
      begun.push(...due.splice(0).filter((at) => at <= clock.now() || !due.push(at)));
    },
    async nextDue(horizon) {
      asked.next += 1;
      return due.filter((at) => at < horizon).toSorted((one, other) => one.getTime() - other.getTime())[0];
    },
    clock,
    logger,
    lookMs: 300_000,
  });
  beats.push(beat);
  return { beat, asked, begun };
}
const beats: SlotBeat[] = [];
afterEach(() => Promise.all(beats.splice(0).map((beat) => beat.stop())));

const later = (clock: TestClock, ms: number) => new Date(clock.now().getTime() + ms);

describe('the beat', () => {
  test('asks the database when a slot is due, and not while none is', async () => {
    const clock = new TestClock();
    const { asked, begun } = beating(clock, [later(clock, MINUTE_MS), later(clock, 2 * MINUTE_MS)]);
    await poll(
      () => asked,
      ({ next }) => next === 1,
    );
    clock.advance(MINUTE_MS);
    await poll(
      () => begun,
      ({ length }) => length === 1,
    );
    clock.advance(MINUTE_MS);
    await poll(
      () => begun,
      ({ length }) => length === 2,
    );
    expect(asked).toEqual({ next: 5, dispatch: 2 });
  });

  test('begins a slot that another process planned', async () => {
    const clock = new TestClock();
    const due: Date[] = [];
    const { beat, asked, begun } = beating(clock, due);
    await poll(
      () => asked,
      ({ next }) => next === 1,
    );
    due.push(later(clock, MINUTE_MS));
    beat.planned(later(clock, MINUTE_MS));
    clock.advance(MINUTE_MS);
    await poll(
      () => begun,
      ({ length }) => length === 1,
    );
  });

  test('goes on after a failure, with the next look', async () => {
    const clock = new TestClock();
    let isAway = true;
    const { beat, asked, begun } = beating(clock, [clock.now()], () => isAway);
    await poll(
      () => asked,
      ({ dispatch }) => dispatch === 1,
    );
    isAway = false;
    await poll(
      () => {
        beat.look();
        return begun;
      },
      ({ length }) => length === 1,
    );
  });

  test('begins nothing after its end', async () => {
    const clock = new TestClock();
    const { beat, asked } = beating(clock, [later(clock, MINUTE_MS)]);
    await beat.stop();
    clock.advance(MINUTE_MS);
    beat.look();
    beat.planned(clock.now());
    expect(asked.dispatch).toBe(0);
  });
});

test('two replicas run a slot once, as soon as it is due, though both slept when it was planned', async () => {
  const server = await startModelServer();
  const clock = new TestClock();
  const app = await startTestApp({ models: server.settings(), clock });
  const settings = { database: app.database, jobs: true, models: server.settings(), clock };
  const replicas = await Promise.all([startTestApp(settings), startTestApp(settings)]);
  try {
    const slot = later(clock, MINUTE_MS);
    const id = await storedAutomation(app, await publishedAgent(app), { schedule: '0 0 1 1 *', nextRunAt: slot });
    await slotPlanned.notify(app.database.database.system, { dueAt: slot });
    clock.advance(MINUTE_MS);
    const ended = await poll(
      () =>
        app.workspace.db
          .selectFrom('automation_executions')
          .select(['automation_id', 'status', 'triggered_by'])
          .execute(),
      ([first]) => first?.status === 'COMPLETED',
    );
    expect(ended).toEqual([{ automation_id: id, status: 'COMPLETED', triggered_by: 'schedule' }]);
    expect(server.requests).toHaveLength(1);
  } finally {
    await Promise.all(replicas.map((replica) => replica.close()));
    await app.close();
    await server.close();
  }
});
