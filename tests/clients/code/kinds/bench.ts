import type { Api } from '../../../../clients/code/api.ts';
import type { JsonObject } from '../../../../clients/code/json.ts';
import type { ChangeContext, Entry, Kind, KindName, Known, Names } from '../../../../clients/code/kind.ts';
import { guildhall } from '../../../../clients/sdk/index.ts';
import type { SeededWorkspace } from '../../../support/db/database.ts';
import type { TestApp } from '../../../support/http/app.ts';

/** What the engine gives to kinds, for one workspace, without files: names, what the lock file would keep, and secrets. */
export class Bench {
  readonly api: Api;
  readonly warnings: string[] = [];
  /** Values of secrets, by their references. */
  readonly secrets: Record<string, string> = {};
  /** References whose values were asked for. */
  readonly asked: string[] = [];
  readonly #known = new Map<string, Known>();
  readonly #ids = new Map<string, string>();

  constructor({ origin }: TestApp, { apiKey }: Pick<SeededWorkspace, 'apiKey'>) {
    this.api = guildhall({ apiKey, baseUrl: origin });
  }

  readonly names: Names = {
    nameOf: (kind, id) =>
      [...this.#ids].find(([key, value]) => value === id && key.startsWith(`${kind}:`))?.[0].slice(kind.length + 1),
    idOf: (kind, name) => {
      const id = this.#ids.get(`${kind}:${name}`);
      if (id === undefined) throw new Error(`no ${kind} ${name}`);
      return id;
    },
  };

  name(kind: KindName, name: string, id: string): void {
    for (const [key, value] of this.#ids) if (value === id) this.#ids.delete(key);
    this.#ids.set(`${kind}:${name}`, id);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  kept(id: string): JsonObject | undefined {
    return this.#known.get(id)?.kept;
  }

  context(options: Partial<ChangeContext> = {}): ChangeContext & { remembered?: JsonObject } {
    const context: ChangeContext & { remembered?: JsonObject } = {
      api: this.api,
      names: this.names,
      known: (id) => this.#known.get(id),
      warn: (text) => this.warnings.push(text),
      prune: false,
      resendSecrets: false,
      idempotencyKey: crypto.randomUUID(),
      secret: async (reference) => {
        this.asked.push(reference);
        return this.secrets[reference] ?? `value of ${reference}`;
      },
      remember: (kept) => {
        context.remembered = kept;
      },
      replaced: new Map(),
      ...options,
    };
    return context;
  }

  /** Makes the entry, whole. Answers its id. */
  async create(kind: Kind, entry: Entry): Promise<string> {
    const context = this.context();
    const made = await kind.create(entry, context);
    this.#note(kind, entry, made.id, context.remembered);
    await this.change(kind, made.id, made.entry, entry);
    return made.id;
  }

  /** Makes one entry into another. Answers the id that it has then. */
  async change(
    kind: Kind,
    id: string,
    before: Entry,
    after: Entry,
    options: Partial<ChangeContext> = {},
  ): Promise<string> {
    const context = this.context(options);
    const answer = await kind.change(id, before, after, context);
    const now = answer?.id ?? id;
    this.#note(kind, after, now, context.remembered ?? this.kept(id));
    return now;
  }

  /** The entry as the service has it. */
  async read(kind: Kind, id: string): Promise<Entry> {
    const context = this.context();
    const listed = (await kind.list(context)).find((each) => each.id === id);
    if (!listed) throw new Error(`${kind.kind} ${id} is not listed`);
    return kind.read(listed, context);
  }

  #note(kind: Kind, { name }: Entry, id: string, kept: JsonObject | undefined): void {
    this.name(kind.kind, name, id);
    this.#known.set(id, { id, ...(kept && { kept }) });
  }
}

/** A place that has these files and nothing else. */
export function placeOf(files: Record<string, string | Uint8Array>) {
  return {
    async read(path: string) {
      const content = files[path];
      if (content === undefined) throw new Error(`${path} is missing`);
      return Uint8Array.from(Buffer.from(content));
    },
    async readText(path: string) {
      const content = files[path];
      return content === undefined ? undefined : Buffer.from(content).toString('utf8');
    },
    list: async () => Object.keys(files).sort(),
    fault: (at: (string | number)[], message: string) => new Error(`${at.join('.')}: ${message}`),
  };
}

/** The entry of a file. */
export async function entryOf(
  kind: Kind,
  name: string,
  yaml: JsonObject,
  files: Record<string, string | Uint8Array> = {},
): Promise<Entry> {
  const { fields, files: contents } = (await kind.fromFile?.(name, yaml, placeOf(files))) ?? {
    fields: yaml,
    files: {},
  };
  return { kind: kind.kind, name, fields, files: contents };
}

/** An entry with digests alone, as it is compared. */
export function compared({ name, fields, files }: Entry) {
  return {
    name,
    fields,
    files: Object.fromEntries(Object.entries(files).map(([path, { sha256 }]) => [path, sha256])),
  };
}
