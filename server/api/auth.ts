import type { IncomingHttpHeaders } from 'node:http';
import type { Kysely } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { hasApiKeyChecksum, hashApiKey, isApiKeyFormat } from '../../core/apiKey.ts';
import type { Clock } from '../../core/clock.ts';
import { fault } from '../../core/errors.ts';
import { lruCache } from '../../core/lruCache.ts';
import { findApiKeysByHash, type KeyOwner, touchApiKey } from '../../db/queries/workspaces/apiKeys.ts';
import type { DB } from '../../generated/db.ts';
import { KeyLookup } from './keyLookup.ts';

/** Whose request this is. */
export interface Principal {
  apiKeyId: string;
  workspaceId: string;
  /** What the workspace may have under way in this process; null = no limit. As old as the key's trust. */
  limits: { requests: number | null; turns: number | null };
}

/** How long a key is trusted without asking the database; revocation purges it sooner. */
const TRUST_MS = 5_000;
/** A key's last use is written at most this often. */
const TOUCH_MS = 60_000;
/** How long a key counts as unknown without asking the database; a new key ends it sooner. */
const UNKNOWN_MS = 1_000;
const KEYS_REMEMBERED = 10_000;

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="guildhall"' };

/** The key as the request carries it: `X-Api-Key` wins over `Authorization: Bearer`. */
export function apiKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers['x-api-key'];
  if (own !== undefined) return Array.isArray(own) ? own[0] : own;
  const bearer = /^Bearer(?: +(.*))?$/i.exec(headers.authorization ?? '');
  return bearer ? (bearer[1] ?? '').trim() : undefined;
}

const unknownKey = () => fault('INVALID_API_KEY', undefined, { headers: CHALLENGE });

/** Checks API keys. One instance a process; it remembers keys for seconds, as hashes only. */
export class Authenticator {
  readonly #system: Kysely<DB>;
  readonly #clock: Clock;
  readonly #trusted: LRUCache<string, Principal>;
  readonly #unknown: LRUCache<string, true>;
  readonly #touched: LRUCache<string, true>;
  /** Keys that were good before. They are not looked up behind a flood of others. */
  readonly #proven = lruCache<string, true>(KEYS_REMEMBERED);
  readonly #provenLookup: KeyLookup<KeyOwner>;
  readonly #lookup: KeyLookup<KeyOwner>;
  /** How often keys were forgotten. */
  #forgotten = 0;
  /** How often keys were added. */
  #added = 0;

  constructor(system: Kysely<DB>, clock: Clock) {
    this.#system = system;
    this.#clock = clock;
    const perf = { now: () => clock.now().getTime() };
    this.#trusted = lruCache(KEYS_REMEMBERED, { ttl: TRUST_MS, perf });
    this.#unknown = lruCache(KEYS_REMEMBERED, { ttl: UNKNOWN_MS, ttlResolution: 0, perf });
    this.#touched = lruCache(KEYS_REMEMBERED, { ttl: TOUCH_MS, perf });
    const find = (hashes: readonly Buffer[]) => findApiKeysByHash(system, hashes);
    const hashOf = (owner: KeyOwner) => owner.key_hash;
    this.#provenLookup = new KeyLookup(find, hashOf);
    this.#lookup = new KeyLookup(find, hashOf);
  }

  /**
   * The owner of the request's key. Throws MISSING_API_KEY, INVALID_API_KEY_FORMAT (prefix or length) or INVALID_API_KEY (unknown,
   * revoked, its workspace is deleted, or its checksum is wrong, which is decided without the database).
   */
  async authenticate(headers: IncomingHttpHeaders): Promise<Principal> {
    const key = apiKeyOf(headers);
    if (key === undefined || key === '') throw fault('MISSING_API_KEY', undefined, { headers: CHALLENGE });
    const hash = hashApiKey(key);
    const id = hash.toString('base64');
    const known = this.#trusted.get(id);
    if (known) return known;
    if (!isApiKeyFormat(key)) throw fault('INVALID_API_KEY_FORMAT', undefined, { headers: CHALLENGE });
    if (!hasApiKeyChecksum(key) || this.#unknown.has(id)) throw unknownKey();
    const [forgotten, added] = [this.#forgotten, this.#added];
    const lookup = this.#proven.has(id) ? this.#provenLookup : this.#lookup;
    const row = await lookup.ownerOf(hash, id);
    if (!row) {
      this.#proven.delete(id);
      // A key that was added while the database was asked may have been this one.
      if (added === this.#added) this.#unknown.set(id, true);
      throw unknownKey();
    }
    this.#proven.set(id, true);
    const limits = { requests: row.request_limit, turns: row.turn_limit };
    const principal = { apiKeyId: row.id, workspaceId: row.workspace_id, limits };
    const now = this.#clock.now();
    // A revocation that arrived while the row was being read may have been this key's.
    if (forgotten === this.#forgotten) this.#trusted.set(id, principal);
    if (!this.#touched.has(row.id)) {
      this.#touched.set(row.id, true);
      // The last use is a courtesy to the operator: a request does not fail over it.
      touchApiKey(this.#system, row.id, now).catch(() => this.#touched.delete(row.id));
    }
    return principal;
  }

  /** Forgets which keys are unknown: one was added, or may have been. */
  forgetUnknown(): void {
    this.#added += 1;
    this.#unknown.clear();
  }

  /** Forgets a revoked key; with no id, everything (after the revocation channel was out of reach). */
  forget(apiKeyId?: string): void {
    this.#forgotten += 1;
    if (apiKeyId === undefined) this.#trusted.clear();
    for (const [id, principal] of this.#trusted.entries()) {
      if (principal.apiKeyId === apiKeyId) this.#trusted.delete(id);
    }
  }
}
