import type { Socket } from 'node:net';
import { OutgoingFailed } from './failures.ts';

/** Bytes of an answer that are no body: its head, its chunk sizes, and what waits in buffers. */
const MAX_SPARE_BYTES = 512 * 1024;
/** Such bytes that each byte of the body may have beside these: a chunk of 24 bytes has six. */
const SPARE_SHARE = 0.25;
/** Answers of the kind of `103 Early Hints` before the real one. */
const MAX_INFORMATIONAL = 50;

/**
 * Bounds what a server sends of an answer that is no body, or that unpacks to less: chunk sizes with long extensions, chunks of a byte, endless
 * informational answers, blank lines, empty blocks of a compression. Such bytes would keep the main thread at work until the time limit,
 * and no limit of the body counts them.
 */
export class WireBound {
  readonly #host: () => string;
  readonly #fail: (failure: OutgoingFailed) => void;
  #bodyBytes = 0;
  #informational = 0;

  /** `host` is who answers now; `fail` ends the call. */
  constructor(host: () => string, fail: (failure: OutgoingFailed) => void) {
    this.#host = host;
    this.#fail = fail;
  }

  /** Looks at each arrival at a new connection. Bytes that TLS adds do not count. */
  watch(socket: Socket): void {
    const begunAt = this.#bodyBytes;
    socket.on('readable', () => {
      const body = this.#bodyBytes - begunAt;
      if (socket.bytesRead > MAX_SPARE_BYTES + (1 + SPARE_SHARE) * body) this.#end('almost nothing but framing');
    });
  }

  /** Counts unpacked bytes of the body that were taken from the buffers. */
  take(bytes: number): void {
    this.#bodyBytes += bytes;
  }

  /** Counts an informational answer. */
  inform(): void {
    this.#informational += 1;
    if (this.#informational > MAX_INFORMATIONAL) this.#end('too many informational answers');
  }

  #end(what: string): void {
    this.#fail(new OutgoingFailed('protocol', `${this.#host()} sends ${what}.`));
  }
}
