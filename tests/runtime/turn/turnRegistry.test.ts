import { jest } from '@jest/globals';
import { untilAborted } from '../../../core/deadline.ts';
import { newId } from '../../../core/ids.ts';
import { beginConversation } from '../../../db/queries/turns/beginConversation.ts';
import { LEASE_SECONDS } from '../../../db/queries/turns/leases.ts';
import { TurnRegistry } from '../../../runtime/turn/turnRegistry.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { until } from '../../support/poll.ts';
import { turnStart } from '../../support/turns/storedTurns.ts';

let database: TestDatabase;
let workspace: SeededWorkspace;
let turns: TurnRegistry;

beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await database.seedWorkspace();
});
beforeEach(() => {
  turns = new TurnRegistry(database.database.system);
});
afterAll(() => database.drop());

const never = new AbortController().signal;

/** Runs a turn with a controller of its own. */
function run<T>(work: (controller: AbortController) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  return turns.run(controller, () => work(controller));
}

/** Whether a promise has settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise.catch(() => {}), Promise.resolve(pending)])) !== pending;
}

describe('queue', () => {
  test('runs one at a time, in order of arrival', async () => {
    const order: number[] = [];
    const all = [1, 2, 3, 4].map(async (n) => {
      const release = await turns.queue('a', never);
      order.push(n);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(n);
      release();
    });
    await Promise.all(all);
    expect(order).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
  });

  test('keeps conversations apart', async () => {
    await turns.queue('a', never);
    const release = await turns.queue('b', never);
    release();
  });

  test('one that gives up rejects with its reason at once, and neither frees nor blocks those behind it', async () => {
    const first = await turns.queue('a', never);
    const impatient = new AbortController();
    const second = turns.queue('a', impatient.signal);
    const third = turns.queue('a', never);
    const reason = new Error('enough');
    impatient.abort(reason);
    await expect(second).rejects.toBe(reason);
    expect(await settled(third)).toBe(false);
    first();
    (await third)();
    // Nothing is left behind: a newcomer need not wait.
    (await turns.queue('a', never))();
  });

  test('one that had given up before it came is refused', async () => {
    await turns.queue('a', never);
    const reason = new Error('too late');
    await expect(turns.queue('a', AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('abortAll', () => {
  test('ends running turns with the reason, and those that begin afterwards', async () => {
    const reason = new Error('stopping');
    const wait = (controller: AbortController) => untilAborted(new Promise<never>(() => {}), controller.signal);
    const running = run(wait);
    turns.abortAll(reason);
    await expect(running).rejects.toBe(reason);
    await expect(run(wait)).rejects.toBe(reason);
    await turns.idle();
  });
});

describe('idle', () => {
  test('waits for the last turn, however it ends', async () => {
    await turns.idle();
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const running = gates.map((gate) => run(() => gate.promise));
    const idle = Promise.all([turns.idle(), turns.idle()]);
    gates[0].resolve();
    await running[0];
    expect(await settled(idle)).toBe(false);
    gates[1].reject(new Error('failed'));
    await expect(running[1]).rejects.toThrow('failed');
    await idle;
  });
});

describe('holding', () => {
  const unaborted = new AbortController();

  async function heldConversation() {
    const { db, workspaceId } = workspace;
    const agentId = newId();
    await db.insertInto('agents').values({ workspace_id: workspaceId, id: agentId, name: agentId }).execute();
    const lease = { workspaceId, conversationId: newId(), turnId: newId(), attempt: 1 };
    const conversation = { externalUserId: 'user', isTest: false, metadata: {} };
    await beginConversation(db, turnStart({ ...lease, agentId }), conversation);
    await age(lease.conversationId);
    return lease;
  }
  const age = (id: string) =>
    workspace.db
      .updateTable('conversations')
      .set({ turn_expires_at: new Date(Date.now() + 1000) })
      .where('id', '=', id)
      .execute();
  const secondsLeft = async (id: string) => {
    const { turn_expires_at: at } = await workspace.db
      .selectFrom('conversations')
      .select('turn_expires_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return ((at?.getTime() ?? 0) - Date.now()) / 1000;
  };
  /** Only intervals: the database driver needs the rest. */
  const fakeIntervals = () =>
    jest.useFakeTimers({
      doNotFake: [
        'nextTick',
        'queueMicrotask',
        'setImmediate',
        'clearImmediate',
        'setTimeout',
        'clearTimeout',
        'performance',
        'Date',
      ],
    });
  test('renews the leases of all turns every five seconds, and only while they run', async () => {
    const leases = [await heldConversation(), await heldConversation()];
    const over = await heldConversation();
    fakeIntervals();
    try {
      const gate = Promise.withResolvers<void>();
      const running = leases.map((lease) => turns.holding(lease, unaborted, () => gate.promise));
      await turns.holding(over, unaborted, async () => {});
      jest.advanceTimersByTime(4_999);
      expect(await secondsLeft(leases[0]?.conversationId ?? '')).toBeLessThan(2);
      jest.advanceTimersByTime(1);
      for (const { conversationId } of leases) {
        await until(async () => (await secondsLeft(conversationId)) > LEASE_SECONDS - 5);
        await age(conversationId);
      }
      jest.advanceTimersByTime(5_000);
      for (const { conversationId } of leases) await until(async () => (await secondsLeft(conversationId)) > 10);
      expect(await secondsLeft(over.conversationId)).toBeLessThan(2);
      gate.resolve();
      await Promise.all(running);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a machine that slept asks before a tool is called, though the clock of its process stood still', async () => {
    const held = await heldConversation();
    await workspace.db
      .updateTable('conversations')
      .set({ turn_attempt: 2 })
      .where('id', '=', held.conversationId)
      .execute();
    await run((controller) =>
      turns.holding(held, controller, async () => {
        // The lease was taken just now: nobody is asked.
        await turns.checkHeld(held);
        const later = Date.now() + LEASE_SECONDS * 1000;
        const clock = jest.spyOn(Date, 'now').mockReturnValue(later);
        try {
          await expect(turns.checkHeld(held)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
        } finally {
          clock.mockRestore();
        }
      }),
    );
  });

  test('does not renew a lease that another turn has taken, and ends the turn that lost it', async () => {
    const lease = await heldConversation();
    const mine = await heldConversation();
    await workspace.db
      .updateTable('conversations')
      .set({ turn_id: newId() })
      .where('id', '=', lease.conversationId)
      .execute();
    fakeIntervals();
    try {
      const gate = Promise.withResolvers<void>();
      const ended = new Promise((resolve) => {
        void run((controller) => {
          controller.signal.addEventListener('abort', () => resolve(controller.signal.reason));
          return turns.holding(lease, controller, () => gate.promise);
        });
      });
      const running = run(async (controller) => {
        await turns.holding(mine, controller, () => gate.promise);
        return controller.signal.aborted;
      });
      jest.advanceTimersByTime(5_000);
      await until(async () => (await secondsLeft(mine.conversationId)) > 10);
      expect(await secondsLeft(lease.conversationId)).toBeLessThan(2);
      expect(await ended).toMatchObject({ code: 'UNAVAILABLE' });
      gate.resolve();
      expect(await running).toBe(false);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a renewal that fails does not end the turn, and the next one is tried', async () => {
    let attempts = 0;
    const outOfReach = new Proxy(database.database.system, {
      get: () => {
        attempts += 1;
        throw new Error('out of reach');
      },
    });
    const broken = new TurnRegistry(outOfReach);
    const lease = await heldConversation();
    fakeIntervals();
    try {
      const gate = Promise.withResolvers<string>();
      const running = broken.holding(lease, unaborted, () => gate.promise);
      jest.advanceTimersByTime(10_000);
      expect(attempts).toBe(2);
      gate.resolve('answer');
      expect(await running).toBe('answer');
    } finally {
      jest.useRealTimers();
    }
  });
});
