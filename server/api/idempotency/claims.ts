import type { Kysely } from 'kysely';
import { type KeyClaim, renewClaims } from '../../../db/queries/workspaces/idempotencyKeys.ts';
import type { DB } from '../../../generated/db.ts';

/** Well within CLAIM_SECONDS, so that one renewal may fail. */
const RENEW_MS = 5_000;

/** The claims that this process holds. It renews them until they are let go. */
export class HeldClaims {
  readonly #system: Kysely<DB>;
  readonly #claims = new Set<KeyClaim>();
  #renewal: NodeJS.Timeout | undefined;

  constructor(system: Kysely<DB>) {
    this.#system = system;
  }

  /** Renews the claim until the returned function is called. */
  hold(claim: KeyClaim): () => void {
    this.#claims.add(claim);
    this.#renewal ??= setInterval(() => void this.#renew(), RENEW_MS).unref();
    return () => {
      this.#claims.delete(claim);
      if (this.#claims.size > 0) return;
      clearInterval(this.#renewal);
      this.#renewal = undefined;
    };
  }

  async #renew(): Promise<void> {
    // When the database is out of reach, the next renewal tries again; a claim outlives several of them.
    await renewClaims(this.#system, [...this.#claims]).catch(() => {});
  }
}
