import { mkdir } from 'node:fs/promises';
import { differencesOf } from './compare/differences.ts';
import { digestOfEntry } from './digest.ts';
import { StateConflict } from './faults.ts';
import { removeFileBelow } from './files/disk.ts';
import { type FileEntry, readEntries } from './files/readEntries.ts';
import { filesOf, placesOf, type WriteResult, writeFiles } from './files/writeEntries.ts';
import type { Entry, Kind, Listed } from './kind.ts';
import { LockFile } from './lockFile.ts';
import { MatchedNames } from './matching.ts';
import { withHints } from './plan.ts';
import { inParallel } from './pool.ts';
import { isProject, writeProject } from './project.ts';
import { inOrder, listAll, readContext, type Setting } from './survey.ts';

/** What a pull may do. */
export interface PullOptions {
  /** Overwrites local edits that were not applied. */
  force: boolean;
  /** Removes files of what is gone from the workspace. */
  prune: boolean;
}

/** What a pull came to. Paths are those below the folder. */
export interface PullResult extends WriteResult {
  /** Number of things that the files describe now. */
  things: number;
  /** Things that files describe and the workspace does not have: `--prune` removes their files. */
  gone: string[];
}

interface Pulled {
  listed: Listed;
  entry: Entry;
}

/**
 * Writes a workspace as files. Files that describe a thing as it is already stay as they are, comments included. Throws StateConflict when
 * files have edits that were not applied to this workspace, and FileFaults for files that cannot be read, unless `force` is set; nothing is
 * written then.
 */
export async function pullWorkspace(given: Setting, { force, prune }: PullOptions): Promise<PullResult> {
  const setting = { ...given, kinds: inOrder(given.kinds) };
  const { folder } = setting;
  const lock = await LockFile.open(folder, setting.workspaceId);
  const local = (await isProject(folder)) ? await readLocal(setting, force) : [];
  const listed = await listAll(setting, new MatchedNames([], new Map()), lock);
  for (const kind of setting.kinds)
    listed.set(kind.kind, withOwnNames(setting, kind, listed.get(kind.kind) ?? [], lock));
  const names = new MatchedNames([], listed);
  const pulled = new Map<Kind, Pulled[]>();
  for (const kind of setting.kinds) {
    const things = (listed.get(kind.kind) ?? []).filter((each) => each.problem === undefined);
    const context = readContext(setting, kind, names, lock);
    pulled.set(
      kind,
      await inParallel(things, async (each) => ({
        listed: each,
        entry: { ...(await kind.read(each, context)), ...(kind.layout.form !== 'single' && { name: each.name }) },
      })),
    );
  }
  const targets = setting.kinds.map((kind) => targetOf(kind, pulled.get(kind) ?? [], local, lock, prune));
  const edited = targets.flatMap((target) => target.edited);
  if (edited.length > 0 && !force)
    throw new StateConflict(
      'local_edits',
      `${edited.length === 1 ? 'A file has' : `${edited.length} files have`} edits that were not applied to this workspace. Nothing was written.`,
      'Run guildhall plan to see them and guildhall apply to apply them, or --force to overwrite them.',
      edited,
    );
  await mkdir(folder, { recursive: true });
  await writeProject(folder, setting.kinds);
  const result: PullResult = { written: [], removed: [], missing: [], things: 0, gone: [] };
  for (const target of targets) await writeTarget(folder, target, lock, result);
  await lock.save();
  return result;
}

async function readLocal({ folder, kinds }: Setting, force: boolean): Promise<FileEntry[]> {
  try {
    return await readEntries(folder, kinds);
  } catch (error) {
    if (!force) throw error;
    return [];
  }
}

/** The service lets knowledge sources have equal names, files do not: the second gets a number. */
function withOwnNames({ warn }: Setting, kind: Kind, listed: Listed[], lock: LockFile): Listed[] {
  if (!kind.namesRepeat) return listed;
  const taken = new Set<string>();
  const known = (each: Listed) => lock.find(kind.kind, each.id)?.name;
  const ordered = [...listed.filter((each) => known(each)), ...listed.filter((each) => !known(each))];
  return ordered.map((each) => {
    let name = each.name;
    for (let count = 2; taken.has(name); count++) name = `${each.name} (${count})`;
    if (name !== each.name)
      warn(
        `Two of ${kind.kind} are called ${JSON.stringify(each.name)}. One is ${JSON.stringify(name)} in the files; apply gives it that name.`,
      );
    taken.add(name);
    return { ...each, name };
  });
}

/** What is to be written for one kind. */
interface Target {
  kind: Kind;
  /** Names in the order of the service. */
  order: string[];
  /** Things whose files change, and those whose files stay. */
  changed: Pulled[];
  same: Pulled[];
  places: Map<string, string>;
  /** Files that described what changes or goes. */
  former: string[];
  /** Files with edits that were not applied. */
  edited: string[];
  /** Entries of files that the workspace does not have any more. */
  gone: FileEntry[];
  removed: FileEntry[];
  /** Entries of a list that stay in its file though the workspace does not have them. */
  staying: FileEntry[];
}

function targetOf(kind: Kind, things: Pulled[], all: readonly FileEntry[], lock: LockFile, prune: boolean): Target {
  const local = all.filter((entry) => entry.kind === kind.kind);
  const localOf = new Map<Pulled, FileEntry>();
  for (const thing of things) {
    const known = lock.find(kind.kind, thing.listed.id);
    const found =
      local.find(({ name }) => name === known?.name) ??
      local.find(({ name }) => name === thing.entry.name) ??
      // A name that was changed in its file and not applied yet.
      local.find(({ name, path }) => path !== undefined && path === known?.path && !lock.things(kind.kind).has(name));
    if (found && ![...localOf.values()].includes(found)) localOf.set(thing, found);
  }
  const present = new Map<string, string>();
  for (const [thing, { path }] of localOf) if (path !== undefined) present.set(thing.entry.name, path);
  const held = new Set(local.map(({ path }) => path));
  for (const thing of things) {
    const path = localOf.has(thing) ? undefined : lock.find(kind.kind, thing.listed.id)?.path;
    if (path !== undefined && !held.has(path) && isPlaceOf(kind, path)) present.set(thing.entry.name, path);
  }
  const matched = new Set(localOf.values());
  const others = local.filter((entry) => !matched.has(entry));
  const wasApplied = (entry: FileEntry) => lock.things(kind.kind).has(entry.name);
  const gone = others.filter(wasApplied);
  const isEdited = (entry: FileEntry) => lock.things(kind.kind).get(entry.name)?.digest !== digestOfEntry(entry);
  const target: Target = {
    kind,
    order: things.map(({ entry }) => entry.name),
    changed: [],
    same: [],
    places: new Map(),
    former: [],
    edited: [],
    gone: [],
    removed: [],
    staying: [],
  };
  for (const thing of things) {
    const mine = localOf.get(thing);
    if (mine) thing.entry = withHints(thing.entry, mine, kind);
    if (mine && differencesOf(mine, thing.entry).length === 0) target.same.push(thing);
    else {
      target.changed.push(thing);
      if (mine && isEdited(mine)) target.edited.push(mine.file);
    }
  }
  for (const entry of gone) {
    if (!prune) target.gone.push(entry);
    else if (isEdited(entry)) target.edited.push(entry.file);
    if (prune) target.removed.push(entry);
  }
  target.staying = others.filter((entry) => !target.removed.includes(entry));
  // Entries that stay keep their places from new ones.
  const stayingPlaces = target.staying.flatMap(({ name, path }) => (path === undefined ? [] : [[name, path] as const]));
  const names = [...things.map(({ entry }) => entry.name), ...stayingPlaces.map(([name]) => `\0${name}`)];
  const places = new Map([...stayingPlaces.map(([name, path]) => [`\0${name}`, path] as const), ...present]);
  target.places = placesOf(kind, names, places);
  const leaving = [...target.removed, ...target.changed.flatMap((thing) => localOf.get(thing) ?? [])];
  for (const entry of leaving)
    for (const path of filesOf(kind, [entry], new Map([[entry.name, entry.path ?? '']])).keys())
      target.former.push(path);
  return target;
}

/** By name, or in the order of the service where that means something. */
function inListOrder(kind: Kind, entries: readonly Entry[], order: readonly string[]): Entry[] {
  const placeOf = ({ name }: Entry) => (order.includes(name) ? order.indexOf(name) : order.length);
  return entries.toSorted((left, right) => {
    const byPlace = kind.isOrdered ? placeOf(left) - placeOf(right) : 0;
    return byPlace || (left.name < right.name ? -1 : 1);
  });
}

/** Whether a path of the lock file is one that an entry of the kind can have. */
function isPlaceOf({ layout }: Kind, path: string): boolean {
  if (layout.form !== 'folder' && layout.form !== 'file') return false;
  const name = path.startsWith(`${layout.folder}/`) ? path.slice(layout.folder.length + 1) : '';
  return /^[^./\\][^/\\]*$/.test(name) && (layout.form === 'folder' || name.endsWith('.yaml'));
}

async function writeTarget(folder: string, target: Target, lock: LockFile, result: PullResult): Promise<void> {
  const { kind, changed, same, places, former, gone, removed, staying } = target;
  const isList = kind.layout.form === 'list';
  const rewritten = isList && changed.length + removed.length > 0;
  const entries = isList
    ? rewritten
      ? inListOrder(kind, [...[...changed, ...same].map(({ entry }) => entry), ...staying], target.order)
      : []
    : changed.map(({ entry }) => entry);
  const files = filesOf(kind, entries, places);
  // A file whose content is only known by its digest is the one that lies there.
  const kept = new Set([
    ...filesOf(
      kind,
      same.map(({ entry }) => entry),
      places,
    ).keys(),
    ...files.keys(),
  ]);
  const {
    written,
    missing,
    removed: gones,
  } = await writeFiles(folder, files, isList && entries.length > 0 ? [] : former.filter((path) => !kept.has(path)));
  result.written.push(...written);
  result.missing.push(...missing);
  result.removed.push(...gones);
  if (isList && rewritten && entries.length === 0 && kind.layout.form === 'list')
    await removeFileBelow(folder, kind.layout.file);
  result.things += changed.length + same.length;
  result.gone.push(...gone.map(({ file, name }) => `${file}: ${name}`));
  for (const entry of removed) {
    const known = lock.things(kind.kind).get(entry.name);
    if (known) lock.drop(kind.kind, known.id);
  }
  for (const { listed, entry } of [...changed, ...same]) {
    const path = places.get(entry.name);
    const kept = lock.find(kind.kind, listed.id)?.kept;
    lock.put(kind.kind, entry.name, {
      id: listed.id,
      ...(path !== undefined && { path }),
      digest: digestOfEntry(entry),
      ...(kept !== undefined && { kept }),
    });
  }
}
