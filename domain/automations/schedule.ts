import { createHash } from 'node:crypto';
import { nextSlot, type Schedule } from '../../core/schedule.ts';
import type { AutomationRow } from '../../db/queries/automations/automations.ts';

/** Slots of one moment are begun over this time, so that they do not all ask the models at once. */
const SPREAD_MS = 30_000;

/** Milliseconds from a slot of the automation to the moment when it is begun: always the same ones, less than half a minute. */
export function spreadMs(automationId: string): number {
  return createHash('sha256').update(automationId).digest().readUInt32BE() % SPREAD_MS;
}

/** The columns that say when an automation runs next. Both are null when it does not run by the clock. */
export type SlotColumns = Pick<AutomationRow, 'next_run_at' | 'due_at'>;

/** Of an automation that does not run by the clock. */
export const NO_SLOT: SlotColumns = { next_run_at: null, due_at: null };

/** The first slot of an automation after a moment, and when it is begun. */
export function slotAfter(automationId: string, schedule: Schedule, after: Date): SlotColumns {
  const slot = nextSlot(schedule, after);
  return slot === null ? NO_SLOT : { next_run_at: slot, due_at: new Date(slot.getTime() + spreadMs(automationId)) };
}
