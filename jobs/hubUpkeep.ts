import { findUnusedLogos, removeUnusedLogo } from '../db/queries/hubs/hubLogos.ts';
import type { FileStore } from '../integrations/storage/storage.ts';
import type { Upkeep } from './upkeep.ts';

/** Files that one round removes. */
const FILES_AT_ONCE = 500;

/** Removes the files of logos that no hub shows: replaced ones whose removal failed, and those of uploads that a dying process left. */
export function purgeLogos(files: Pick<FileStore, 'delete'>): Upkeep {
  return {
    name: 'purge-logos',
    intervalMs: 10 * 60_000,
    async run({ database: { system }, clock }) {
      const now = clock.now();
      for (;;) {
        const unused = await findUnusedLogos(system, now, FILES_AT_ONCE);
        for (const { workspace_id: workspaceId, key } of unused) {
          // The file first: a row that is left when the process dies is found again, and a file without a row never is.
          await files.delete(key);
          await removeUnusedLogo(system, workspaceId, key, now);
        }
        if (unused.length < FILES_AT_ONCE) return;
      }
    },
  };
}
