import { StateConflict } from './faults.ts';
import { readFileBelow, writeFileWhole } from './files/disk.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import type { Entry, KindName, Known } from './kind.ts';

/** Name of the file beside guildhall.yaml. It belongs into version control: whoever applies next must know what the names stand for. */
export const LOCK_FILE = 'guildhall.lock.json';

const LOCK_VERSION = 1;
const MAX_LOCK_BYTES = 32 * 1024 * 1024;

/** What the lock file knows about one workspace. */
interface WorkspaceLock {
  /** Things by kind and name. */
  things: Partial<Record<KindName, Record<string, Known>>>;
  /** Creations that were begun: their `Idempotency-Key`, and the digest of what was to be created. */
  begun: Partial<Record<KindName, Record<string, { key: string; digest: string }>>>;
  /** Former ids of things that were replaced and are still to be deleted. */
  obsolete: { kind: KindName; id: string; name: string }[];
}

/**
 * The lock file: which id a name stands for, in each workspace. Every change is written at once, through a temporary file that is renamed,
 * and one after the other.
 */
export class LockFile {
  readonly #folder: string;
  readonly #workspaceId: string;
  readonly #workspaces: Record<string, WorkspaceLock>;
  #writing: Promise<void> = Promise.resolve();
  #written: string;

  private constructor(folder: string, workspaceId: string, workspaces: Record<string, WorkspaceLock>, written: string) {
    this.#folder = folder;
    this.#workspaceId = workspaceId;
    this.#workspaces = workspaces;
    this.#written = written;
  }

  /**
   * Reads it for one workspace; a missing file is an empty one. Throws StateConflict when it is of another version, half-written or not a lock
   * file: to guess here could make everything a second time.
   */
  static async open(folder: string, workspaceId: string): Promise<LockFile> {
    const bytes = await readFileBelow(folder, LOCK_FILE, MAX_LOCK_BYTES);
    const text =
      bytes === undefined
        ? ''
        : Buffer.from(bytes)
            .toString('utf8')
            .replace(/^\uFEFF/, '');
    const workspaces = bytes === undefined ? {} : workspacesOf(text);
    return new LockFile(folder, workspaceId, workspaces, text);
  }

  /** Whether anything was ever applied to or pulled from the workspace with these files. */
  get knowsWorkspace(): boolean {
    return Object.hasOwn(this.#workspaces, this.#workspaceId);
  }

  get #own(): WorkspaceLock {
    this.#workspaces[this.#workspaceId] ??= { things: {}, begun: {}, obsolete: [] };
    return this.#workspaces[this.#workspaceId] as WorkspaceLock;
  }

  /** Things of a kind by name. */
  things(kind: KindName): ReadonlyMap<string, Known> {
    return new Map(Object.entries(this.#workspaces[this.#workspaceId]?.things[kind] ?? {}));
  }

  /** The name and the rest of what is known about an id. */
  find(kind: KindName, id: string): (Known & { name: string }) | undefined {
    for (const [name, known] of this.things(kind)) if (known.id === id) return { ...known, name };
    return undefined;
  }

  /** Former ids of things that were replaced and are still to be deleted. */
  get obsolete(): readonly { kind: KindName; id: string; name: string }[] {
    return this.#workspaces[this.#workspaceId]?.obsolete ?? [];
  }

  /** Notes what a name stands for, in place of what was noted about the name, about the id, and of a creation that was begun. */
  async set(kind: KindName, name: string, known: Known): Promise<void> {
    this.put(kind, name, known);
    await this.save();
  }

  /** Notes the same, to be written with the next change. */
  put(kind: KindName, name: string, known: Known): void {
    const things = this.#map('things', kind);
    for (const [other, { id }] of Object.entries(things)) if (id === known.id) delete things[other];
    put(things, name, known);
    delete this.#map('begun', kind)[name];
  }

  /** Forgets a thing, to be written with the next change. */
  drop(kind: KindName, id: string): void {
    const things = this.#map('things', kind);
    for (const [name, known] of Object.entries(things)) if (known.id === id) delete things[name];
  }

  /** Forgets a thing that was deleted. */
  async forget(kind: KindName, id: string): Promise<void> {
    this.drop(kind, id);
    this.#own.obsolete = this.#own.obsolete.filter((each) => each.id !== id);
    await this.save();
  }

  /** Notes that the former id of a replaced thing is to be deleted. */
  async leaveObsolete(kind: KindName, id: string, name: string): Promise<void> {
    this.#own.obsolete.push({ kind, id, name });
    await this.save();
  }

  /** The `Idempotency-Key` of a creation: that of the last attempt when it was to create the same. It is on disk when this answers. */
  async begin(entry: Entry, digest: string, newKey: () => string): Promise<string> {
    const begun = this.#map('begun', entry.kind);
    const last = Object.hasOwn(begun, entry.name) ? begun[entry.name] : undefined;
    if (last?.digest === digest) return last.key;
    const key = newKey();
    put(begun, entry.name, { key, digest });
    await this.save();
    return key;
  }

  /** Whether a creation of exactly this was begun and its answer never came. */
  wasBegun(kind: KindName, name: string, digest: string): boolean {
    const begun = this.#workspaces[this.#workspaceId]?.begun[kind] ?? {};
    return Object.hasOwn(begun, name) && begun[name]?.digest === digest;
  }

  /** Forgets creations that were refused: nothing came of them. */
  async giveUp(kind: KindName, name: string): Promise<void> {
    delete this.#map('begun', kind)[name];
    await this.save();
  }

  /** Writes the file when it says something new. */
  save(): Promise<void> {
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(async () => {
        const text = `${JSON.stringify(lockJson(this.#workspaces), null, 2)}\n`;
        if (text === this.#written) return;
        await writeFileWhole(this.#folder, LOCK_FILE, Buffer.from(text));
        this.#written = text;
      });
    return this.#writing;
  }

  #map<Part extends 'things' | 'begun'>(part: Part, kind: KindName): NonNullable<WorkspaceLock[Part][KindName]> {
    const maps = this.#own[part] as Record<string, object>;
    maps[kind] ??= {};
    return maps[kind] as NonNullable<WorkspaceLock[Part][KindName]>;
  }
}

/** Names come from people: `__proto__` is one of them. */
function put<Value>(map: Record<string, Value>, name: string, value: Value): void {
  Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Everything sorted, empty parts left out: two people who apply different things change different lines. */
function lockJson(workspaces: Record<string, WorkspaceLock>) {
  const sortedWorkspaces = sorted(workspaces).map(([id, { things, begun, obsolete }]) => {
    const kinds = sorted(things)
      .map(([kind, names]) => [kind, Object.fromEntries(sorted(names))] as const)
      .filter(([, names]) => Object.keys(names).length > 0);
    const open = sorted(begun).filter(([, names]) => Object.keys(names).length > 0);
    return [
      id,
      {
        ...Object.fromEntries(kinds),
        ...(open.length > 0 && { begun: Object.fromEntries(open) }),
        ...(obsolete.length > 0 && { obsolete }),
      },
    ];
  });
  return { version: LOCK_VERSION, workspaces: Object.fromEntries(sortedWorkspaces) };
}

function sorted<Value>(map: { [name: string]: Value }): [string, Value][] {
  return Object.entries(map).sort(([left], [right]) => (left < right ? -1 : 1));
}

function workspacesOf(text: string): Record<string, WorkspaceLock> {
  const hint = `Take ${LOCK_FILE} from version control. Without it names are looked up on the service, and a changed name makes a new thing.`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new StateConflict('lock_unreadable', `${LOCK_FILE} is not JSON: ${(error as Error).message}`, hint);
  }
  const broken = (what: string) => new StateConflict('lock_unreadable', `${LOCK_FILE} cannot be used: ${what}`, hint);
  if (!isJsonObject(json)) throw broken('it holds no object.');
  if (json.version !== LOCK_VERSION) {
    throw new StateConflict(
      'lock_version',
      `${LOCK_FILE} has version ${JSON.stringify(json.version ?? null)}, and this program reads version ${LOCK_VERSION}.`,
      'Use the version of guildhall that wrote it.',
    );
  }
  if (!isJsonObject(json.workspaces)) throw broken('`workspaces` is missing.');
  const result: Record<string, WorkspaceLock> = {};
  for (const [id, parts] of Object.entries(json.workspaces)) {
    if (!isJsonObject(parts)) throw broken(`workspace ${id} is no object.`);
    const { begun = {}, obsolete = [], ...things } = parts;
    if (!isJsonObject(begun) || !Array.isArray(obsolete)) throw broken(`workspace ${id} is not as it was written.`);
    for (const [kind, names] of Object.entries(things)) {
      if (!isJsonObject(names)) throw broken(`${kind} of workspace ${id} is no object.`);
      for (const [name, known] of Object.entries(names))
        if (!isKnown(known)) throw broken(`${kind} ${JSON.stringify(name)} of workspace ${id} has no id.`);
    }
    result[id] = { things, begun, obsolete } as unknown as WorkspaceLock;
  }
  return result;
}

function isKnown(value: unknown): boolean {
  return isJsonObject(value) && typeof (value as JsonObject).id === 'string';
}
