import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { lruCache } from '../../core/lruCache.ts';
import { nextSlot, readSchedule, type Schedule } from '../../core/schedule.ts';
import type { Database } from '../../db/connect.ts';
import {
  claimSlots,
  type DueAutomation,
  findDueAutomations,
  type SlotAdvance,
} from '../../db/queries/automations/slots.ts';
import { spreadMs } from './schedule.ts';

/** Due automations that are looked for at once. */
const MAX_DUE = 500;
/** Automations of one workspace in one statement. */
const MAX_CLAIMED = 100;
/** Workspaces whose slots are stored at a time. */
const AT_A_TIME = 4;
/** Slots are computed for so long without a pause. */
const MAX_COMPUTING_MS = 10;
/** A slot that is missed by more is not run. */
const MAX_LATE_MS = 60 * 60 * 1000;
/** Slots of one automation that are recorded one by one when many were missed; the rest is told in one record. */
const MAX_RECORDED = 10;

const BUSY = 'Skipped: the execution before it had not ended.';

/** Reading an expression takes half a millisecond, and there are fewer of them than automations. */
const schedules = lruCache<string, Schedule>(10_000);

function scheduleOf(expression: string, timeZone: string | null): Schedule {
  const key = `${expression} ${timeZone ?? ''}`;
  const known = schedules.get(key);
  if (known) return known;
  const schedule = readSchedule(expression, timeZone);
  schedules.set(key, schedule);
  return schedule;
}

/** What slots are dispatched with. */
export interface SlotContext {
  database: Pick<Database, 'system' | 'forWorkspace'>;
  clock: Clock;
  /** Gets the executions that are to be run, after they are stored. */
  dispatched(executions: { workspaceId: string; executionId: string }[]): Promise<void>;
}

/**
 * Dispatches slots that are due, of all workspaces: some hundreds, and of a workspace only while few of its executions wait, since
 * many more cannot be begun at once. The rest is still due then. Any number of processes may do it at the same moment: each slot has one
 * execution. Throws when the database fails; what is stored by then stays.
 */
export async function dispatchSlots({ database, clock, dispatched }: SlotContext, signal: AbortSignal): Promise<void> {
  const now = clock.now();
  const due = await findDueAutomations(database.system, now, MAX_DUE);
  const parts = [...Map.groupBy(due, ({ workspaceId }) => workspaceId)].flatMap(([workspaceId, automations]) =>
    partsOf(automations, MAX_CLAIMED).map((part) => ({ workspaceId, part })),
  );
  // Processes that look at the same moment begin at different places, and get in each other's way less.
  const first = Math.floor(Math.random() * parts.length);
  const queue = [...parts.slice(first), ...parts.slice(0, first)].values();
  const errors: unknown[] = [];
  const work = async () => {
    for (const { workspaceId, part } of queue) {
      if (signal.aborted) return;
      try {
        const advances = await advancesOf(part, now);
        const ids = await claimSlots(database.forWorkspace(workspaceId), workspaceId, advances, { now, busy: BUSY });
        if (ids.length > 0) await dispatched(ids.map((executionId) => ({ workspaceId, executionId })));
      } catch (error) {
        // Those of other workspaces are dispatched all the same.
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  if (errors.length > 0) throw errors[0];
}

function partsOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, place) =>
    all.slice(place * size, (place + 1) * size),
  );
}

async function advancesOf(automations: readonly DueAutomation[], now: Date): Promise<SlotAdvance[]> {
  const advances: SlotAdvance[] = [];
  let since = performance.now();
  for (const automation of automations) {
    advances.push(advanceOf(automation, now));
    if (performance.now() - since < MAX_COMPUTING_MS) continue;
    await turnOfLoop();
    since = performance.now();
  }
  return advances;
}

/**
 * What becomes of an automation whose slot is due. Of the slots that were missed the last one is run if it is late by no more than an
 * hour; it is late by less than its interval, since the next one is not due. Those before it are skipped. Late counts from the moment
 * when the slot was to be begun.
 */
export function advanceOf({ id, schedule: expression, timezone, slot: first }: DueAutomation, now: Date): SlotAdvance {
  let schedule: Schedule;
  try {
    schedule = scheduleOf(expression, timezone);
  } catch {
    const reason = 'The schedule or its time zone cannot be read any more.';
    const skipped = `Skipped: ${reason} The automation is inactive now.`;
    return { id, slot: first, executions: [executionOf(first, skipped)], next: null, inactiveReason: reason };
  }
  const spread = spreadMs(id);
  const { slots, isWhole, next } = missedSlots(schedule, first, new Date(now.getTime() - spread));
  const last = slots.at(-1) ?? first;
  const isRun = now.getTime() - last.getTime() - spread <= MAX_LATE_MS;
  const executions = slots.map((slot, place) => {
    if (slot === last && isRun) return executionOf(slot, null);
    const others =
      isWhole || place !== slots.length - 2 ? '' : ` So were all slots between it and ${last.toISOString()}.`;
    return executionOf(
      slot,
      `Skipped: it was due at ${slot.toISOString()}, and nothing ran it until ${now.toISOString()}.${others}`,
    );
  });
  return {
    id,
    slot: first,
    executions,
    next: next && { slot: next, dueAt: new Date(next.getTime() + spread) },
    inactiveReason: null,
  };
}

const executionOf = (slot: Date, skipped: string | null) => ({ id: newId(), conversationId: newId(), slot, skipped });

/**
 * The slots from `first` on that are not after `until`; there is at least one. Of many only the earliest and the last are listed, and
 * `isWhole` is false. `next` is the first slot after them.
 */
function missedSlots(
  schedule: Schedule,
  first: Date,
  until: Date,
): { slots: Date[]; isWhole: boolean; next: Date | null } {
  const slots = [first];
  let next = nextSlot(schedule, first);
  while (next && next <= until && slots.length < MAX_RECORDED) {
    slots.push(next);
    next = nextSlot(schedule, next);
  }
  if (!next || next > until) return { slots, isWhole: true, next };
  const unlisted = next;
  // Whatever is older than an hour is skipped in any case.
  const recent = new Date(until.getTime() - MAX_LATE_MS - 1);
  let last = next > recent ? next : nextSlot(schedule, recent);
  // There is none in the last hour, so one before it is the last.
  if (!last || last > until) last = lastBefore(schedule, next, recent);
  for (next = nextSlot(schedule, last); next && next <= until; next = nextSlot(schedule, last)) last = next;
  return { slots: [...slots, last], isWhole: last.getTime() === unlisted.getTime(), next };
}

/** The last slot from `from` on that is not after `until`. It halves the time in between until few slots are left. */
function lastBefore(schedule: Schedule, from: Date, until: Date): Date {
  let [low, high] = [from, until];
  while (high.getTime() - low.getTime() > MAX_LATE_MS) {
    const middle = new Date((low.getTime() + high.getTime()) / 2);
    const found = nextSlot(schedule, middle);
    if (found && found <= until) low = found;
    else high = middle;
  }
  return low;
}
