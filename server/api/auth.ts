import type { IncomingHttpHeaders } from 'node:http';
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { hashApiKey, isApiKeyShape } from '../../core/apiKey.ts';
import type { Clock } from '../../core/clock.ts';
import { fault } from '../../core/errors.ts';
import { findApiKeyByHash, touchApiKey } from '../../db/queries/workspaces/apiKeys.ts';
import type { DB } from '../../generated/db.ts';

/** Whose request this is. */
export interface Principal {
  apiKeyId: string;
  workspaceId: string;
}

/** How long a key is trusted without asking the database; revocation purges it sooner. */
const TRUST_MS = 5_000;
/** A key's last use is written at most this often. */
const TOUCH_MS = 60_000;
const KEYS_REMEMBERED = 10_000;

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="guildhall"' };

/** The key as the request carries it: `X-Api-Key` wins over `Authorization: Bearer`. */
function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers['x-api-key'];
  if (own !== undefined) return Array.isArray(own) ? own[0] : own;
  const bearer = /^Bearer(?: +(.*))?$/i.exec(headers.authorization ?? '');
  return bearer ? (bearer[1] ?? '').trim() : undefined;
}

/** Checks API keys. One instance a process; it remembers keys for seconds, as hashes only. */
export class Authenticator {
  readonly #system: Kysely<DB>;
  readonly #clock: Clock;
  readonly #trusted: LRUCache<string, Principal>;
  readonly #touched: LRUCache<string, true>;
  /** How often keys were forgotten. */
  #forgotten = 0;

  constructor(system: Kysely<DB>, clock: Clock) {
    this.#system = system;
    this.#clock = clock;
    const perf = { now: () => clock.now().getTime() };
    this.#trusted = new LRUCache({ max: KEYS_REMEMBERED, ttl: TRUST_MS, perf });
    this.#touched = new LRUCache({ max: KEYS_REMEMBERED, ttl: TOUCH_MS, perf });
  }

  /**
   * The owner of the request's key. Throws MISSING_API_KEY, INVALID_API_KEY_FORMAT (decided without the database) or
   * INVALID_API_KEY (unknown, revoked, or its workspace is deleted).
   */
  async authenticate(headers: IncomingHttpHeaders): Promise<Principal> {
    const key = keyOf(headers);
    if (key === undefined || key === '') throw fault('MISSING_API_KEY', undefined, { headers: CHALLENGE });
    const hash = hashApiKey(key);
    const id = hash.toString('base64');
    const known = this.#trusted.get(id);
    if (known) return known;
    if (!isApiKeyShape(key)) throw fault('INVALID_API_KEY_FORMAT', undefined, { headers: CHALLENGE });
    const forgotten = this.#forgotten;
    const row = await findApiKeyByHash(this.#system, hash);
    if (!row) throw fault('INVALID_API_KEY', undefined, { headers: CHALLENGE });
    const principal = { apiKeyId: row.id, workspaceId: row.workspace_id };
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

  /** Forgets a revoked key; with no id, everything (after the revocation channel was out of reach). */
  forget(apiKeyId?: string): void {
    this.#forgotten += 1;
    if (apiKeyId === undefined) this.#trusted.clear();
    for (const [id, principal] of this.#trusted.entries()) {
      if (principal.apiKeyId === apiKeyId) this.#trusted.delete(id);
    }
  }
}
