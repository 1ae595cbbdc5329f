/** A time limit that reports of progress extend: it begins anew with each, but ends at a maximum. */
export class ProgressTimeout {
  readonly #abort = new AbortController();
  readonly #limitMs: number;
  readonly #lastAt: number;
  #endsAt: number;
  #timer: NodeJS.Timeout;

  constructor(limitMs: number, maxMs: number) {
    const now = performance.now();
    this.#limitMs = limitMs;
    this.#endsAt = now + limitMs;
    this.#lastAt = now + maxMs;
    this.#timer = this.#arm();
  }

  /** Aborted with a TimeoutError when the time is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Begins the time anew. Costs nothing, however often it is called: the timer looks when it fires. */
  extend(): void {
    this.#endsAt = Math.min(performance.now() + this.#limitMs, this.#lastAt);
  }

  /** Releases the timer. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(): NodeJS.Timeout {
    const wait = this.#endsAt - performance.now();
    return setTimeout(() => {
      if (performance.now() < this.#endsAt) this.#timer = this.#arm();
      else this.#abort.abort(new DOMException('The time is over.', 'TimeoutError'));
    }, Math.ceil(wait));
  }
}
