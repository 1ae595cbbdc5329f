import { listModels } from './agent/models.ts';
import type { Api } from './api.ts';
import { type FileFault, FileFaults } from './faults.ts';
import { type FileEntry, readEntries } from './files/readEntries.ts';
import { type Entry, type Kind, type KindName, type Listed, type ReadContext, thingKey } from './kind.ts';
import { LockFile } from './lockFile.ts';
import { MatchedNames, type Matching, matchEntries } from './matching.ts';
import { inParallel } from './pool.ts';

/** What a command works with. */
export interface Setting {
  api: Api;
  /** Absolute path of the folder of guildhall.yaml. */
  folder: string;
  workspaceId: string;
  kinds: readonly Kind[];
  /** Says something to the person. The same text comes once. */
  warn(text: string): void;
}

/** An entry of the files and the thing that it describes, as it is now. */
export interface Pair {
  kind: Kind;
  entry: FileEntry;
  listed?: Listed;
  before?: Entry;
  wasDeleted?: boolean;
}

/** Files, lock file and service, read and matched. */
export interface Survey {
  setting: Setting;
  lock: LockFile;
  names: MatchedNames;
  matchings: Matching[];
  pairs: Pair[];
}

/** Kinds so that each comes after those that it needs. */
export function inOrder(kinds: readonly Kind[]): Kind[] {
  const ordered: Kind[] = [];
  const visit = (kind: Kind) => {
    if (ordered.includes(kind)) return;
    for (const name of kind.after) {
      const needed = kinds.find((each) => each.kind === name);
      if (needed) visit(needed);
    }
    ordered.push(kind);
  };
  kinds.forEach(visit);
  return ordered;
}

/** Lists everything of these kinds on the service. */
export async function listAll(setting: Setting, names: MatchedNames, lock: LockFile): Promise<Map<KindName, Listed[]>> {
  const lists = await inParallel(setting.kinds, async (kind) => {
    const listed = await kind.list(readContext(setting, kind, names, lock));
    return [kind.kind, listed] as const;
  });
  return new Map<KindName, Listed[]>([...lists, ['ai-model', await listModels(setting.api)]]);
}

/** What kinds read with. */
export function readContext(setting: Setting, kind: Kind, names: MatchedNames, lock: LockFile): ReadContext {
  return { api: setting.api, names, warn: setting.warn, known: (id) => lock.find(kind.kind, id) };
}

/**
 * Reads the folder, the lock file and from the service all that the files describe. Throws FileFaults with everything that is wrong in the
 * files, StateConflict for the lock file, and what the SDK throws.
 */
export async function surveyOf(given: Setting): Promise<Survey> {
  const setting = { ...given, kinds: inOrder(given.kinds) };
  const lock = await LockFile.open(setting.folder, setting.workspaceId);
  const entries = await readEntries(setting.folder, setting.kinds);
  const listed = await listAll(setting, new MatchedNames([], new Map()), lock);
  const matchings = setting.kinds.map((kind) =>
    matchEntries(
      kind,
      entries.filter((entry) => entry.kind === kind.kind),
      listed.get(kind.kind) ?? [],
      lock,
    ),
  );
  const names = new MatchedNames(matchings, listed);
  const faults = [...matchings.flatMap((matching) => matching.faults), ...referenceFaults(matchings, names)];
  if (faults.length > 0) throw new FileFaults(faults);
  const waiting = matchings.flatMap(({ kind, pairs }) => pairs.map((pair): Pair => ({ kind, ...pair })));
  const pairs = await inParallel(waiting, async (pair): Promise<Pair> => {
    if (!pair.listed || pair.listed.problem !== undefined) return pair;
    return { ...pair, before: await pair.kind.read(pair.listed, readContext(setting, pair.kind, names, lock)) };
  });
  return { setting, lock, names, matchings, pairs };
}

/** References that lead nowhere: every name must stand for something in the files, or on the service. */
function referenceFaults(matchings: readonly Matching[], names: MatchedNames): FileFault[] {
  const inFiles = new Set(
    matchings.flatMap(({ kind, pairs }) => pairs.map(({ entry }) => thingKey(kind.kind, entry.name))),
  );
  return matchings.flatMap(({ kind, pairs }) =>
    pairs.flatMap(({ entry }) =>
      (kind.references?.(entry) ?? [])
        .filter((reference) => !inFiles.has(thingKey(reference.kind, reference.name)))
        .filter((reference) => !names.has(reference.kind, reference.name))
        .map((reference) =>
          entry.fault(
            reference.at,
            `there is no ${reference.kind} ${JSON.stringify(reference.name)}, neither in the files nor on the service.`,
          ),
        ),
    ),
  );
}
