import { digestOfEntry } from './digest.ts';
import { thingKey } from './kind.ts';
import type { Survey } from './survey.ts';

/**
 * Notes in the lock file what is as its file says, too: a name that changes later is then the new name of a known thing. `failed`: see
 * `thingKey`.
 */
export function noteUnchanged({ pairs, lock }: Survey, failed: ReadonlySet<string>): void {
  for (const { kind, entry, listed, before } of pairs) {
    if (!listed || !before || failed.has(thingKey(kind.kind, entry.name))) continue;
    const known = lock.things(kind.kind).get(entry.name);
    const digest = digestOfEntry(entry);
    if (known && known.path === entry.path && known.digest === digest) continue;
    if (known && known.id !== listed.id) continue;
    lock.put(kind.kind, entry.name, {
      ...known,
      id: listed.id,
      ...(entry.path !== undefined && { path: entry.path }),
      digest,
    });
  }
}
