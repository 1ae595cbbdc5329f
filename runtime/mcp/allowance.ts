/** How often something may be done: so many times at once, and then again as time goes by. */
export class Allowance {
  readonly #most: number;
  readonly #everyMs: number;
  #left: number;
  #countedAt = performance.now();

  /** `most` at once; one more is allowed every `everyMs`. */
  constructor(most: number, everyMs: number) {
    this.#most = most;
    this.#everyMs = everyMs;
    this.#left = most;
  }

  /** Uses one, if there is one. */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#left + (now - this.#countedAt) / this.#everyMs, Math.max(this.#most, this.#left));
    this.#countedAt = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Allows so many more, but never more than `most` in all. */
  add(more: number, most: number): void {
    this.#left = Math.max(this.#left, Math.min(this.#left + more, most));
  }
}
