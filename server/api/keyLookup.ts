import { fault } from '../../core/errors.ts';

/** Hashes in one statement. */
const MAX_HASHES = 200;
/** Hashes that are looked up or wait for it. */
const MAX_WAITING = 2_000;

/** A hash that is to be looked up, and whoever waits for it. */
interface Waiting<Owner> {
  hash: Buffer;
  answer: Promise<Owner | undefined>;
  resolve(owner: Owner | undefined): void;
  reject(error: unknown): void;
}

/**
 * Looks keys and addresses up by their hashes, with one statement at a time: what is asked meanwhile goes with the next one, and equal
 * hashes are asked once. A flood of keys thus holds one connection, however many keys it tries.
 */
export class KeyLookup<Owner> {
  readonly #find: (hashes: readonly Buffer[]) => Promise<Owner[]>;
  readonly #hashOf: (owner: Owner) => Buffer;
  /** By hash in Base64, until they are answered. */
  readonly #pending = new Map<string, Waiting<Owner>>();
  readonly #queue: string[] = [];
  #running = false;

  constructor(find: (hashes: readonly Buffer[]) => Promise<Owner[]>, hashOf: (owner: Owner) => Buffer) {
    this.#find = find;
    this.#hashOf = hashOf;
  }

  /** The owner of the key with this hash; `id` is the hash in Base64. Throws UNAVAILABLE when too many wait, and what the query throws. */
  ownerOf(hash: Buffer, id: string): Promise<Owner | undefined> {
    const known = this.#pending.get(id);
    if (known) return known.answer;
    if (this.#pending.size >= MAX_WAITING) return Promise.reject(fault('UNAVAILABLE'));
    const { promise: answer, resolve, reject } = Promise.withResolvers<Owner | undefined>();
    this.#pending.set(id, { hash, answer, resolve, reject });
    this.#queue.push(id);
    if (!this.#running) void this.#run();
    return answer;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#queue.length > 0) await this.#answer(this.#queue.splice(0, MAX_HASHES));
    this.#running = false;
  }

  async #answer(ids: readonly string[]): Promise<void> {
    const asked = ids.flatMap((id) => this.#pending.get(id) ?? []);
    try {
      const owners = await this.#find(asked.map(({ hash }) => hash));
      const found = new Map(owners.map((owner) => [this.#hashOf(owner).toString('base64'), owner]));
      for (const { hash, resolve } of asked) resolve(found.get(hash.toString('base64')));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
    for (const id of ids) this.#pending.delete(id);
  }
}
