import { findHubsToBrand, updateHubRow } from '../db/queries/hubs/hubs.ts';
import { passOnBranding } from '../domain/hubs/branding.ts';
import type { Job } from './jobs.ts';

/** Hubs that one sweep queues. */
const MAX_SWEPT = 500;

/** Passes logos on to the payment provider. The upload queues it, and does not wait for it. */
export const syncBranding: Job<'sync-branding'> = {
  name: 'sync-branding',
  options: {
    retryLimit: 5,
    retryDelay: 30,
    retryBackoff: true,
    expireInSeconds: 300,
    pool: 'channels',
    sweepMs: 10 * 60_000,
    again: true,
  },
  key: ({ workspaceId }) => workspaceId,
  run: ({ workspaceId }, { database, runtime, clock }) =>
    passOnBranding({ db: database.forWorkspace(workspaceId), workspaceId, runtime, clock }),
  /** The next upload tries again: an account that may not be changed by its platform stays so. */
  async failed({ workspaceId }, { database, clock, logger }) {
    const now = clock.now();
    await updateHubRow(database.forWorkspace(workspaceId), workspaceId, { branding_synced_at: now, updated_at: now });
    logger.warn({ workspaceId }, 'the branding of a hub was not passed on to its payment provider');
  },
  sweep: async ({ database }) => ({ due: await findHubsToBrand(database.system, MAX_SWEPT) }),
};
