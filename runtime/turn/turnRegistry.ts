import type { Kysely } from 'kysely';
import { fault } from '../../core/errors.ts';
import { renewLeases } from '../../db/queries/turns/turns.ts';
import type { DB } from '../../generated/db.ts';

/** A conversation that a turn of this process holds. */
export interface Lease {
  workspaceId: string;
  conversationId: string;
  turnId: string;
}

/** Well within LEASE_SECONDS, so that one renewal may fail. */
const RENEW_MS = 5_000;

/**
 * The turns under way in this process. Lets turns of one conversation queue in the order they came, renews the leases of
 * those that run, and ends them when the process must stop.
 */
export class TurnRegistry {
  readonly #system: Kysely<DB>;
  readonly #turns = new Map<AbortSignal, AbortController>();
  /** With what ends the turn that holds it. */
  readonly #leases = new Map<Lease, AbortController | undefined>();
  readonly #queues = new Map<string, Promise<void>>();
  #renewal: NodeJS.Timeout | undefined;
  #whenIdle: (() => void)[] = [];
  #ended: Error | undefined;

  constructor(system: Kysely<DB>) {
    this.#system = system;
  }

  /** Runs a turn. Aborting the controller ends it, with the reason given: its time is up, or the process stops. */
  async run<T>(work: (controller: AbortController) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    if (this.#ended) controller.abort(this.#ended);
    this.#turns.set(controller.signal, controller);
    try {
      return await work(controller);
    } finally {
      this.#turns.delete(controller.signal);
      if (this.#turns.size === 0) for (const wake of this.#whenIdle.splice(0)) wake();
    }
  }

  /**
   * Keeps the lease alive while `work` goes on. When it is lost all the same, the turn of `signal` is ended with UNAVAILABLE: what it
   * still did would be for nobody.
   */
  async holding<T>(lease: Lease, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#leases.set(lease, this.#turns.get(signal));
    this.#renewal ??= setInterval(() => void this.#renew(), RENEW_MS).unref();
    try {
      return await work();
    } finally {
      this.#leases.delete(lease);
      if (this.#leases.size === 0) {
        clearInterval(this.#renewal);
        this.#renewal = undefined;
      }
    }
  }

  /**
   * Waits until the turns of this conversation that came earlier in this process are over. Answers with the function
   * that lets the next one go. Rejects with the signal's reason when it is aborted first.
   */
  async queue(conversationId: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#queues.get(conversationId);
    let release = () => {};
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tail = before ? before.then(() => mine) : mine;
    this.#queues.set(conversationId, tail);
    void tail.then(() => {
      if (this.#queues.get(conversationId) === tail) this.#queues.delete(conversationId);
    });
    if (before) {
      try {
        await abortable(before, signal);
      } catch (error) {
        release();
        throw error;
      }
    }
    return release;
  }

  /** Whether a turn of this conversation that came next would have to wait here. */
  isQueued(conversationId: string): boolean {
    return this.#queues.has(conversationId);
  }

  /** Settles when no turn runs. */
  idle(): Promise<void> {
    if (this.#turns.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Ends every turn with this reason, and those that still begin: for the end of the process. */
  abortAll(reason: Error): void {
    this.#ended = reason;
    for (const controller of this.#turns.values()) controller.abort(reason);
  }

  async #renew(): Promise<void> {
    try {
      const leases = [...this.#leases.keys()];
      const kept = await renewLeases(this.#system, leases);
      for (const lease of leases) if (!kept.has(lease.turnId)) this.#leases.get(lease)?.abort(fault('UNAVAILABLE'));
    } catch {
      // The database is out of reach: the next renewal tries again, and a lease outlives several of them.
    }
  }
}

/** The promise, or the signal's reason as soon as it is aborted. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) {
      // Nobody waits for it any more.
      promise.catch(() => {});
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
