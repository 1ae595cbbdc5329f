import { removeExcessKeys, removeExpiredKeys } from '../db/queries/workspaces/idempotencyKeys.ts';
import type { JobContext } from './jobs.ts';

/** Something that processes with background work do over and over, and that no job follows. */
export interface Upkeep {
  name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  intervalMs: number;
  run(context: Pick<JobContext, 'database' | 'clock'>): Promise<void>;
}

/** What a workspace may keep: no workspace fills the database with answers. */
export const MAX_KEPT_ANSWERS = { records: 100_000, bytes: 256 * 1024 * 1024 };

/** Removes the answers to requests with an Idempotency-Key that are older than a day, or more than a workspace may keep. */
export const forgetAnswers: Upkeep = {
  name: 'forget-answers',
  intervalMs: 60_000,
  async run({ database, clock }) {
    await removeExpiredKeys(database.system, clock.now());
    await removeExcessKeys(database.system, MAX_KEPT_ANSWERS);
  },
};

/** Every upkeep. */
export const everyUpkeep: readonly Upkeep[] = [forgetAnswers];
