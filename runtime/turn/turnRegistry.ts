import type { Kysely } from 'kysely';
import { untilAborted } from '../../core/deadline.ts';
import { fault } from '../../core/errors.ts';
import { type HeldTurn, renewLeases } from '../../db/queries/turns/leases.ts';
import type { DB } from '../../generated/db.ts';

/** Well within LEASE_SECONDS, so that one renewal may fail. */
const RENEW_MS = 5_000;
/** A lease that was renewed longer ago than this is renewed before a call of a tool: the process may have slept. */
const TRUST_MS = 2 * RENEW_MS;

/** What the process knows of a turn that holds a conversation. */
interface Holding {
  /** Ends it. */
  controller: AbortController;
  /** Gives it up for a newer message. */
  replace: (() => void) | undefined;
  /** When the lease was taken or renewed. */
  renewedAt: Moment;
}

/** Of both clocks, in milliseconds: the one of the process stands still while the machine sleeps, and the other one can be set back. */
interface Moment {
  process: number;
  machine: number;
}

const thisMoment = (): Moment => ({ process: performance.now(), machine: Date.now() });

/** Milliseconds since then, by the clock that says more. */
const msSince = ({ process, machine }: Moment): number => Math.max(performance.now() - process, Date.now() - machine);

/**
 * The turns that run in this process. Queues the turns of one conversation in the order in which they came, renews the leases of
 * those that run, and ends them when the process must stop.
 */
export class TurnRegistry {
  readonly #system: Kysely<DB>;
  readonly #turns = new Set<AbortController>();
  /** The turns that hold a conversation. */
  readonly #held = new Map<HeldTurn, Holding>();
  readonly #queues = new Map<string, Promise<void>>();
  #renewal: NodeJS.Timeout | undefined;
  #whenIdle: (() => void)[] = [];
  #ended: Error | undefined;

  constructor(system: Kysely<DB>) {
    this.#system = system;
  }

  /** Runs a turn. The controller is aborted when the process stops; `work` must end then. */
  async run<T>(controller: AbortController, work: () => Promise<T>): Promise<T> {
    if (this.#ended) controller.abort(this.#ended);
    this.#turns.add(controller);
    try {
      return await work();
    } finally {
      this.#turns.delete(controller);
      if (this.#turns.size === 0) for (const wake of this.#whenIdle.splice(0)) wake();
    }
  }

  /**
   * Renews the turn's lease on its conversation while the work is done. When another turn has taken the conversation all the same, the
   * controller is aborted with UNAVAILABLE: what the turn still did could not be stored. `replace` is called when a message has come that
   * the turn does not answer.
   */
  async holding<T>(
    turn: HeldTurn,
    controller: AbortController,
    work: () => Promise<T>,
    replace?: () => void,
  ): Promise<T> {
    this.#held.set(turn, { controller, replace, renewedAt: thisMoment() });
    this.#renewal ??= setInterval(() => void this.#renew(), RENEW_MS).unref();
    try {
      return await work();
    } finally {
      this.#held.delete(turn);
      if (this.#held.size === 0) {
        clearInterval(this.#renewal);
        this.#renewal = undefined;
      }
    }
  }

  /**
   * Waits until the turns of this conversation that came earlier in this process are over. Returns the function that lets the next
   * one go. Rejects with the signal's reason when it is aborted first.
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
        await untilAborted(before, signal);
      } catch (error) {
        release();
        throw error;
      }
    }
    return release;
  }

  /** A message has come to the conversation: a turn of it that has called no tool yet, in this process, is given up. */
  replace(conversationId: string): void {
    for (const [turn, { replace }] of this.#held) if (turn.conversationId === conversationId) replace?.();
  }

  /** Whether the next turn of this conversation would have to wait in this process. */
  isQueued(conversationId: string): boolean {
    return this.#queues.has(conversationId);
  }

  /** Settles when no turn runs. */
  idle(): Promise<void> {
    if (this.#turns.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Ends every turn with this reason, also those that begin later. For the end of the process. */
  abortAll(reason: Error): void {
    this.#ended = reason;
    for (const controller of this.#turns) controller.abort(reason);
  }

  /**
   * Throws UNAVAILABLE when another process has taken the turn over. Asks the database only when the last renewal is too long ago to tell, as
   * in a process that slept.
   */
  async checkHeld(turn: HeldTurn): Promise<void> {
    const holding = this.#holdingOf(turn);
    if (!holding || msSince(holding.renewedAt) < TRUST_MS) return;
    await this.#renewThese([turn]);
    holding.controller.signal.throwIfAborted();
  }

  /** Whether this process runs a turn that holds the conversation, or takes one over. */
  holds(conversationId: string): boolean {
    return [...this.#held.keys()].some((turn) => turn.conversationId === conversationId);
  }

  /** By its ids: a turn is copied on its way. */
  #holdingOf({ turnId, attempt }: HeldTurn): Holding | undefined {
    for (const [turn, holding] of this.#held) if (turn.turnId === turnId && turn.attempt === attempt) return holding;
    return undefined;
  }

  async #renew(): Promise<void> {
    try {
      await this.#renewThese([...this.#held.keys()]);
    } catch {
      // The database is out of reach. The next renewal tries again; a lease outlives several of them.
    }
  }

  async #renewThese(turns: readonly HeldTurn[]): Promise<void> {
    const askedAt = thisMoment();
    const renewed = await renewLeases(this.#system, turns);
    for (const turn of turns) {
      const holding = this.#holdingOf(turn);
      if (!holding) continue;
      if (renewed.has(turn)) holding.renewedAt = askedAt;
      else holding.controller.abort(fault('UNAVAILABLE'));
    }
  }
}
