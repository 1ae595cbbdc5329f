import type { ServerResponse } from 'node:http';

/** Time in which a client must read some more of an answer. */
const IDLE_MS = 15_000;
/** Time in which a client must read the whole answer. */
const WHOLE_MS = 120_000;
/** Bytes of one workspace's answers that wait for readers. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Settings for tests. */
export interface UnreadOptions {
  idleMs?: number;
  wholeMs?: number;
  maxBytes?: number;
}

/** The answers of one workspace that are not read yet, the oldest first, with their bytes. */
interface Unread {
  answers: Map<ServerResponse, number>;
  bytes: number;
}

/**
 * Drops answers that nobody reads, and their connections: each costs its whole size in memory. Whoever reads nothing for 15 seconds,
 * or not all within two minutes, is cut off. More than 16 MiB of a workspace's answers do not wait: the oldest is dropped.
 */
export class UnreadAnswers {
  readonly #options: Required<UnreadOptions>;
  readonly #unread = new Map<string, Unread>();

  constructor({ idleMs = IDLE_MS, wholeMs = WHOLE_MS, maxBytes = MAX_BYTES }: UnreadOptions = {}) {
    this.#options = { idleMs, wholeMs, maxBytes };
  }

  /** Watches a response that has ended until its client has read it. `owner` is the workspace, '' for a request without one. */
  watch(response: ServerResponse, owner: string): void {
    const bytes = response.writableLength;
    // Nearly always the system has taken the whole answer by now.
    if (bytes === 0 || !response.writableEnded || response.destroyed) return;
    // A stream has bounds of its own (eventStream.ts).
    if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return;
    const { idleMs, wholeMs, maxBytes } = this.#options;
    const drop = () => response.destroy();
    // Node restarts this timer while the client takes some of what was written.
    response.setTimeout(idleMs, drop);
    const whole = setTimeout(drop, wholeMs).unref();
    const unread = this.#unread.get(owner) ?? { answers: new Map(), bytes: 0 };
    this.#unread.set(owner, unread);
    unread.answers.set(response, bytes);
    unread.bytes += bytes;
    const read = () => {
      clearTimeout(whole);
      if (!unread.answers.delete(response)) return;
      unread.bytes -= bytes;
      if (unread.answers.size === 0) this.#unread.delete(owner);
    };
    response.once('finish', read).once('close', read);
    for (const [oldest] of unread.answers) {
      if (unread.bytes <= maxBytes || oldest === response) break;
      oldest.destroy();
      unread.bytes -= unread.answers.get(oldest) ?? 0;
      unread.answers.delete(oldest);
    }
  }
}
