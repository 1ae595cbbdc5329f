import { digestOfEntry } from './digest.ts';
import type { FileFault } from './faults.ts';
import type { FileEntry } from './files/readEntries.ts';
import { type Kind, type KindName, type Known, type Listed, type Names, thingKey } from './kind.ts';
import type { LockFile } from './lockFile.ts';

/** Which entry of the files is which thing on the service. */
export interface Matching {
  kind: Kind;
  /** Entries of the files with the thing that they describe; without one it is to be created. */
  pairs: { entry: FileEntry; listed?: Listed; wasDeleted?: boolean }[];
  /** Things that files described once and describe no more: `--prune` deletes them. */
  left: Listed[];
  /** Things that no file ever described. They are left alone. */
  foreign: Listed[];
  faults: FileFault[];
}

/**
 * Finds for each entry of one kind the thing that it describes. In this order: the id that the lock file has for `renamedFrom`, until that
 * is applied; the id that it has for the name; the thing on the service that has the name of `renamedFrom`; the id of the name that the lock
 * file has for the same path, when no file has that name any more; the thing on the service with the name. What is left is new.
 */
export function matchEntries(
  kind: Kind,
  entries: readonly FileEntry[],
  listed: readonly Listed[],
  lock: LockFile,
): Matching {
  const byId = new Map(listed.map((each) => [each.id, each]));
  const byName = new Map<string, Listed[]>();
  for (const each of listed) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const known = lock.things(kind.kind);
  const wanted = new Set(entries.map(({ name }) => name));
  const obsolete = new Set(lock.obsolete.filter((each) => each.kind === kind.kind).map(({ id }) => id));
  const claimed = new Set<string>(obsolete);
  const matching: Matching = { kind, pairs: [], left: [], foreign: [], faults: [] };
  const found = new Map<FileEntry, Listed>();
  const take = (entry: FileEntry, thing: Listed | undefined) => {
    if (!thing || claimed.has(thing.id) || found.has(entry)) return;
    claimed.add(thing.id);
    found.set(entry, thing);
  };
  const thingOf = (record: Known | undefined) => record && byId.get(record.id);
  const isHandedOn = (entry: FileEntry) => entry.renamedFrom !== undefined && known.has(entry.renamedFrom);
  for (const entry of entries) {
    if (!isHandedOn(entry)) continue;
    const record = known.get(entry.name);
    const isApplied = record !== undefined && record.path === entry.path;
    // A name that a file still has is that file's, unless that one gets its name from a third.
    const holder = entries.find(({ name }) => name === entry.renamedFrom);
    if (!isApplied && (!holder || isHandedOn(holder))) take(entry, thingOf(known.get(entry.renamedFrom as string)));
  }
  for (const entry of entries) take(entry, thingOf(known.get(entry.name)));
  for (const entry of entries) {
    const { renamedFrom } = entry;
    if (renamedFrom === undefined || wanted.has(renamedFrom)) continue;
    const same = byName.get(renamedFrom) ?? [];
    if (same.length === 1) take(entry, same[0]);
  }
  const gone = [...known].filter(([name, { path }]) => path !== undefined && !wanted.has(name));
  for (const entry of entries) {
    const former = gone.filter(([, { path }]) => path === entry.path && path !== undefined);
    if (former.length === 1 && !known.has(entry.name)) take(entry, thingOf(former[0]?.[1]));
  }
  for (const entry of entries) {
    if (found.has(entry)) continue;
    // A thing that the lock file has under another name is that one's.
    const same = (byName.get(entry.name) ?? []).filter(({ id }) => !claimed.has(id) && !lock.find(kind.kind, id));
    const begun = kind.namesRepeat && lock.wasBegun(kind.kind, entry.name, digestOfEntry(entry));
    if (begun) continue;
    if (same.length > 1)
      matching.faults.push(
        entry.fault(
          [kind.nameField ?? 'name'],
          `the service has ${same.length} things of this name: which is meant? Give them different names there, or pull first.`,
        ),
      );
    else take(entry, same[0]);
  }
  if (kind.layout.form === 'single') for (const entry of entries) take(entry, listed[0]);
  for (const entry of entries) {
    const thing = found.get(entry);
    const record = known.get(entry.name);
    matching.pairs.push({ entry, ...(thing ? { listed: thing } : record && { wasDeleted: true }) });
  }
  for (const thing of listed) {
    if (claimed.has(thing.id)) continue;
    (lock.find(kind.kind, thing.id) ? matching.left : matching.foreign).push(thing);
  }
  return matching;
}

/** The names of a workspace: those of the files for what they describe, those of the service for the rest. Ids may be added. */
export class MatchedNames implements Names {
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(matchings: readonly Matching[], listed: ReadonlyMap<KindName, readonly Listed[]>) {
    for (const { kind, pairs } of matchings)
      for (const { entry, listed: thing } of pairs) if (thing) this.set(kind.kind, entry.name, thing.id);
    const ofFiles = new Set(
      matchings.flatMap(({ kind, pairs }) => pairs.map(({ entry }) => thingKey(kind.kind, entry.name))),
    );
    for (const [kind, things] of listed)
      for (const { id, name } of things) {
        if (this.#names.has(thingKey(kind, id))) continue;
        // A thing that no file describes may have the name of one that does.
        const isTaken = ofFiles.has(thingKey(kind, name)) || this.#ids.has(thingKey(kind, name));
        this.set(kind, isTaken ? `${name} (${id})` : name, id);
      }
  }

  set(kind: KindName, name: string, id: string): void {
    this.#ids.set(thingKey(kind, name), id);
    this.#names.set(thingKey(kind, id), name);
  }

  nameOf(kind: KindName, id: string): string | undefined {
    return this.#names.get(thingKey(kind, id));
  }

  has(kind: KindName, name: string): boolean {
    return this.#ids.has(thingKey(kind, name));
  }

  idOf(kind: KindName, name: string): string {
    const id = this.#ids.get(thingKey(kind, name));
    if (id === undefined) throw new Error(`The ${kind} ${JSON.stringify(name)} does not exist.`);
    return id;
  }
}
