import { type Form, part, StripeRefusal, type StripeRequest, type Thing, text, whole } from './wire.ts';

/** What one account has. */
export class StripeState {
  readonly #things = new Map<string, Thing>();
  readonly #order: string[] = [];
  readonly now: () => number;
  readonly emit: (type: string, object: Thing, previous?: Record<string, unknown>) => void;
  readonly #nextId: (prefix: string) => string;

  constructor(options: {
    /** Seconds since 1970. */
    now(): number;
    nextId(prefix: string): string;
    emit(type: string, object: Thing, previous?: Record<string, unknown>): void;
  }) {
    this.now = options.now;
    this.#nextId = options.nextId;
    this.emit = options.emit;
  }

  /** Adds an object; `id` is made from the prefix unless it is given. */
  add<Fields extends Record<string, unknown>>(
    prefix: string,
    object: string,
    fields: Fields,
  ): Thing & Fields & { created: number } {
    const thing = { id: this.#nextId(prefix), object, livemode: false, created: this.now(), ...fields };
    if (this.#things.has(thing.id))
      throw new StripeRefusal(400, { code: 'resource_already_exists', message: `${thing.id} exists.` });
    this.#things.set(thing.id, thing);
    this.#order.push(thing.id);
    return thing;
  }

  find(id: string | null, object: string): Thing | undefined {
    const thing = this.#things.get(id ?? '');
    return thing?.object === object ? thing : undefined;
  }

  /** Throws `resource_missing`. */
  get(id: string | null, object: string): Thing {
    const thing = this.find(id, object);
    if (!thing) throw new StripeRefusal(404, { code: 'resource_missing', message: `No such ${object}: '${id}'` });
    return thing;
  }

  remove(id: string): void {
    this.#things.delete(id);
  }

  /** Every object of a kind, newest first. */
  all(object: string): Thing[] {
    return [...this.#order].reverse().flatMap((id) => {
      const thing = this.#things.get(id);
      return thing?.object === object ? [thing] : [];
    });
  }

  /** A page of a list, as the query asks for it. */
  list(object: string, { query, path }: StripeRequest, fits: (thing: Thing) => boolean = () => true) {
    const every = this.all(object).filter(fits);
    const after = text(query.starting_after);
    const from = after === null ? 0 : every.findIndex(({ id }) => id === after) + 1;
    const limit = whole(query.limit) ?? 10;
    return {
      object: 'list',
      url: `/v1${path}`,
      has_more: every.length > from + limit,
      data: every.slice(from, from + limit),
    };
  }
}

/** Metadata after an update: keys with an empty text are removed. */
export function metadataOf(form: Form, before: Record<string, string> = {}): Record<string, string> {
  const after = { ...before };
  for (const [key, value] of Object.entries(part(form.metadata))) {
    if (value === '') delete after[key];
    else if (typeof value === 'string') after[key] = value;
  }
  return after;
}

/** What a thing refers to by id. */
export const refOf = (thing: Thing | undefined, field: string): string | null =>
  typeof thing?.[field] === 'string' ? thing[field] : null;

/** `count` months after `from`, both in seconds, on the same day or the last of a shorter month, counted from `anchor`. */
export function monthsAfter(anchor: number, from: number, count: number): number {
  const start = new Date(anchor * 1000);
  const base = new Date(from * 1000);
  const months =
    (base.getUTCFullYear() - start.getUTCFullYear()) * 12 + base.getUTCMonth() - start.getUTCMonth() + count;
  const to = new Date(anchor * 1000);
  to.setUTCDate(1);
  to.setUTCMonth(start.getUTCMonth() + months);
  const days = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(start.getUTCDate(), days));
  return Math.floor(to.getTime() / 1000);
}
