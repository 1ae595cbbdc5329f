import type { Writable } from 'node:stream';
import { Failure } from './failure.ts';
import type { Terminal } from './io.ts';

/** Whoever read our output is gone (`| head -1`). Nobody is left to tell, so the command ends quietly. */
export class ClosedPipe extends Error {
  override readonly name = 'ClosedPipe';
}

/** A stream that is written to with back-pressure: a write has ended when the reader has room again. */
export class Output {
  readonly #stream: Writable & Terminal;
  #fault: NodeJS.ErrnoException | undefined;

  constructor(stream: Writable & Terminal) {
    this.#stream = stream;
    // Without a listener the error of a closed pipe would end the process with a stack.
    stream.on('error', (error) => {
      this.#fault ??= error;
    });
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Characters in a line, as far as anybody knows. */
  get columns(): number {
    return this.#stream.columns || 80;
  }

  /** @throws ClosedPipe when the reader is gone, Failure when the text cannot be written otherwise (a full disk). */
  async write(chunk: string | Uint8Array): Promise<void> {
    if (chunk.length === 0) return;
    if (!this.#fault && !this.#stream.destroyed)
      await new Promise<void>((resolve) => {
        this.#stream.write(chunk, (error) => {
          this.#fault ??= error ?? undefined;
          resolve();
        });
      });
    const { code } = this.#fault ?? {};
    if (code === 'EPIPE' || code === 'EOF' || code === 'ERR_STREAM_DESTROYED' || this.#stream.destroyed)
      throw new ClosedPipe('The reader of the output is gone.');
    if (this.#fault)
      throw new Failure('cannot_write', 1, `The output cannot be written: ${code ?? this.#fault.message}.`);
  }
}
