import type { Api } from './api.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** The kinds of things that files describe, as the lock file, plans and references name them. */
export type KindName =
  | 'skill'
  | 'knowledge-source'
  | 'http-tool'
  | 'mcp-server'
  | 'agent'
  | 'credit-package'
  | 'plan'
  | 'coupon'
  | 'external-link'
  | 'hub'
  /** Models are in no file: a reference names one as `provider/modelId`. */
  | 'ai-model';

/** A text that differs for things that differ, from the kind and the name or id of a thing: neither has NUL. */
export function thingKey(kind: KindName, name: string): string {
  return `${kind}\0${name}`;
}

/**
 * The content of a file that belongs to an entry. The service gives contents of skills and knowledge sources back to nobody: of those only
 * the digest is known (from the lock file), or nothing.
 */
export interface Content {
  /** SHA-256 of the bytes in hexadecimal; undefined when it is not known: then it equals every other one, and `plan` says so. */
  sha256: string | undefined;
  /** Absent when the service does not give them back. */
  bytes?: Uint8Array;
}

/**
 * One thing of a workspace in its canonical form. A file and the service give the same entry for the same thing, so a plan is a comparison
 * of two entries. Canonical means: defaults left out (`withoutDefaults`), fields in a fixed order, lists without an order of their own
 * sorted by name, other entries by their names, secrets as references (`env:NAME`, `file:PATH`), no ids and no times. Texts with several
 * lines are fields, with `\n` as line end.
 */
export interface Entry {
  kind: KindName;
  /** What the thing is called, unique within its kind in the files. It is not among the fields. */
  name: string;
  fields: JsonObject;
  /** Contents that are no text of a field, by their path below the entry's folder with `/`. */
  files: Record<string, Content>;
}

/** A thing on the service, before it is read whole. */
export interface Listed {
  id: string;
  name: string;
  /** What the service said about it, so that nobody need ask again. `read` may replace it by more. */
  raw?: unknown;
  /** Why it cannot be changed through the API, such as `the agent is archived`. Plans say it and leave the thing alone. */
  problem?: string;
}

/** What the lock file keeps of a thing. */
export interface Known {
  id: string;
  /** Path of the file or folder that described it at the last apply or pull. A name that changes in its file is a new name of the same thing. */
  path?: string;
  /** Digest of the entry as it was last applied or pulled. */
  digest?: string;
  /** What the kind remembered: digests of contents, references to secrets. Never a secret, nor anything computed from one. */
  kept?: JsonObject;
}

/** Another entry that an entry names. */
export interface Reference {
  kind: KindName;
  name: string;
  /** Where in the YAML it stands, for messages: `['tools', 0, 'name']`. An item of a list may be told by its name: `['tools', 'search']`. */
  at: (string | number)[];
}

/** A reference to a secret in an entry. */
export interface SecretPlace {
  /** `env:NAME` or `file:PATH`. */
  reference: string;
  /** Where in the YAML it stands: `['configuration', 'secrets', 'token']`. */
  at: (string | number)[];
}

/** Names and ids of a workspace. Names are those of the files where a file describes the thing, also while the service has the old one. */
export interface Names {
  nameOf(kind: KindName, id: string): string | undefined;
  /** The id of an entry, also of one that this apply has just made; throws when nothing has this name. */
  idOf(kind: KindName, name: string): string;
}

/** What a kind reads the service with. */
export interface ReadContext {
  api: Api;
  names: Names;
  /** What the lock file has about a thing of the kind that reads. */
  known(id: string): Known | undefined;
  /** Says something to the person, once per text. */
  warn(text: string): void;
}

/** What a kind changes the service with. */
export interface ChangeContext extends ReadContext {
  /** Whether `--prune` was given. Without it nothing is deleted that cannot be had back, also inside of an entry. */
  prune: boolean;
  /** The `Idempotency-Key` of this creation. The lock file has it before the request is sent, so a repeated apply sends the same. */
  idempotencyKey: string;
  /** The value behind `env:NAME` or `file:PATH`. */
  secret(reference: string): Promise<string>;
  /** Whether `--secrets` was given: every secret of the entry is sent again. Nobody can see whether its value has changed. */
  resendSecrets: boolean;
  /** Stores this as `kept` of the thing in the lock file, in place of what was there. */
  remember(kept: JsonObject): void;
  /** Things that were replaced by new ones during this apply, whose links must move: the former id by the new id. */
  replaced: ReadonlyMap<string, string>;
}

/** Where the files of a kind are, below the folder of guildhall.yaml. The part in angle brackets is made from the name. */
export type Layout =
  /** `agents/<name>/agent.yaml`, and further files in the folder. */
  | { form: 'folder'; folder: string; file: string }
  /** `http-tools/<name>.yaml`; contents stand beside it. */
  | { form: 'file'; folder: string }
  /** `hub/links.yaml`: a list with all entries, each with its `name` (or the field of `nameField`). They have no files. */
  | { form: 'list'; file: string }
  /** `hub/hub.yaml`: one entry that is always there. Its YAML has no name. */
  | { form: 'single'; file: string };

/** The folder around the YAML of an entry, while files are read. Paths are relative to it; nothing outside of it can be reached. */
export interface Place {
  /** The content of a file. Throws a FileFault when it is missing, too large or a link. */
  read(path: string): Promise<Uint8Array>;
  /** The same as text: UTF-8, without a byte order mark, line ends as `\n`. undefined when there is no such file. */
  readText(path: string): Promise<string | undefined>;
  /** Paths of all files in a folder below (`.` is this one), at any depth, sorted; empty when there is no such folder. */
  list(folder: string): Promise<string[]>;
  /** An error that names the file, and the line of a place in the YAML: throw it. */
  fault(at: (string | number)[], message: string): Error;
}

/** An entry as it is written: the YAML in the order of its fields, and the files beside it. Contents without bytes are left as they are on disk. */
export interface Written {
  yaml: JsonObject;
  files: Record<string, Content>;
}

/**
 * One kind of thing. The engine reads all kinds from the service and from the folder, compares, and calls `create`, `change` and `remove`.
 * It runs reads and changes of several entries of one kind at once.
 */
export interface Kind {
  readonly kind: KindName;
  /** Kinds whose entries must exist before those of this kind are created or changed. Removals go the other way round. */
  readonly after: readonly KindName[];
  readonly layout: Layout;
  /** The field that stands for the name in the YAML, `name` when absent. */
  readonly nameField?: string;
  /** Whether the order of the things means something, such as that of a menu: `pull` keeps it in a list. */
  readonly isOrdered?: boolean;
  /** Whether the service lets two things have one name. */
  readonly namesRepeat?: boolean;
  /** Fields that say how to apply, and not what the service has: they make no difference. */
  readonly hints?: readonly string[];
  /** JSON Schema (2020-12) of the YAML of one entry, without the name; unknown fields are refused by it. Editors and the engine use it. */
  readonly schema: JsonObject;

  /** Everything of this kind in the workspace. */
  list(context: ReadContext): Promise<Listed[]>;
  /** One of them in its canonical form. Names of other things come from `context.names`. */
  read(listed: Listed, context: ReadContext): Promise<Entry>;

  /** The canonical form of a YAML file that fits the schema. Without it the fields are those of the YAML, without nulls. */
  fromFile?(name: string, yaml: JsonObject, place: Place): Promise<Pick<Entry, 'fields' | 'files'>>;
  /** The way back. Without it the YAML has the fields. */
  toFile?(entry: Entry): Written;
  /** The entries that this one names. A name that exists neither in the files nor on the service is a fault, before anything changes. */
  references?(entry: Entry): Reference[];
  /**
   * The secrets whose values `create` (then `before` is absent) or `change` will ask for, and where they stand in the YAML. The engine looks
   * all of them up before anything changes: one that leads to no value is a fault of the file. `resend`: see `ChangeContext.resendSecrets`;
   * an entry that is equal on both sides is changed, too, when it then has secrets to send.
   */
  secrets?(before: Entry | undefined, after: Entry, resend: boolean): SecretPlace[];
  /**
   * Why the service will refuse this, as far as it can be known: plans say it, and apply does not try it. `listed` and `before` are absent
   * for a creation, `after` is absent for a removal.
   */
  refusal?(listed: Listed | undefined, before: Entry | undefined, after: Entry | undefined): string | undefined;
  /** What is wrong between all entries of the kind in the files, such as a circle of sub-agents. */
  faults?(entries: readonly Entry[]): { name: string; message: string }[];

  /**
   * Makes the thing, and answers its id and the entry that exists now. When that is not all of `entry` yet, the engine calls `change` with
   * both when all entries of the kind exist. A name that is taken already never gets here: the engine adopts what has the name.
   */
  create(entry: Entry, context: ChangeContext): Promise<{ id: string; entry: Entry }>;
  /**
   * Takes away what could stand in the way of other entries' changes, such as links whose direction changes. Called for all entries that
   * change, before any `change`.
   */
  loosen?(id: string, before: Entry, after: Entry, context: ChangeContext): Promise<void>;
  /**
   * Makes `before` into `after`; the name may differ too. Done a second time it changes nothing. Where the content cannot change
   * (`replaces`), it makes a new thing and answers its id: the engine then moves links (entries that refer to it are changed too, see
   * `context.replaced`), and calls `remove` with the old id after everything is published.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most kinds answer nothing
  change(id: string, before: Entry, after: Entry, context: ChangeContext): Promise<{ id: string } | void>;
  /** Whether `change` will make a new thing. */
  replaces?(before: Entry, after: Entry): boolean;
  /** Deletes it. Something that is gone already is no error. Absent: it cannot be deleted. */
  remove?(id: string, context: ChangeContext): Promise<void>;
  /**
   * What `after` becomes when nothing may be deleted: with the things inside of it that only the service has. Without it nothing inside
   * an entry needs `--prune`.
   */
  keep?(before: Entry, after: Entry): Entry;
  /** Publishes it where that is due. Called for all entries after every other change. */
  publish?(id: string, entry: Entry, context: ChangeContext): Promise<void>;
  /**
   * Whether it will have changes that are not published, though the entry asks for them to be: because of these differences, or because the
   * service has such changes already. `listed` is undefined for what does not exist yet.
   */
  needsPublish?(listed: Listed | undefined, entry: Entry, differences: readonly { field: string }[]): boolean;
}

/** A part of an agent with requests of its own, such as its commands: one field of agent.yaml. */
export interface AgentPart {
  readonly field: string;
  /** JSON Schema of the field. */
  readonly schema: JsonObject;
  /** The canonical value, undefined when the agent has nothing of it. Lists without an order of their own are sorted by name. */
  read(agentId: string, context: ReadContext): Promise<JsonValue | undefined>;
  /** The canonical value of what a file says; the value as it stands without it. */
  fromFile?(value: JsonValue): JsonValue | undefined;
  references?(value: JsonValue): Reference[];
  /** See `Kind.loosen`. */
  loosen?(
    agentId: string,
    before: JsonValue | undefined,
    after: JsonValue | undefined,
    context: ChangeContext,
  ): Promise<void>;
  /** Makes `before` into `after`. Done a second time it changes nothing. */
  change(
    agentId: string,
    before: JsonValue | undefined,
    after: JsonValue | undefined,
    context: ChangeContext,
  ): Promise<void>;
  /** See `Kind.secrets`. Places are those below the field. */
  secrets?(before: JsonValue | undefined, after: JsonValue | undefined, resend: boolean): SecretPlace[];
  /** What is deleted only with `--prune`: see `Kind.keep`. */
  keep?(before: JsonValue | undefined, after: JsonValue | undefined): JsonValue | undefined;
}
