import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import cliProgress from 'cli-progress';
import type { Io } from '../io.ts';
import { cutText } from '../terminal/cells.ts';
import { plainLine } from '../terminal/plain.ts';
import { sizeText } from './size.ts';

/** Shows how much of a file was sent. */
export interface Progress {
  /** Ends the line: the file was sent, or not. */
  end(sent: boolean): void;
}

const SHOWN_EVERY_MS = 100;
const PIECE_BYTES = 64 * 1024;
const BAR_CELLS = 24;
/** Cells of a line that do not depend on the name. */
const OTHER_CELLS = BAR_CELLS + 32;
const LEAST_NAME_CELLS = 8;
const NOTHING: Progress = { end() {} };

/**
 * A bar on stderr while a file is sent; nothing when stderr is no terminal. The request is the same with and without it: Node tells
 * which socket the request goes over (`undici:client:sendHeaders`), and the socket how many bytes it has taken.
 */
export function showProgress(io: Pick<Io, 'stderr' | 'env'>, name: string, bytes: number): Progress {
  if (!io.stderr.isTTY || io.env.TERM === 'dumb') return NOTHING;
  const width = Math.max(LEAST_NAME_CELLS, (io.stderr.columns ?? 80) - OTHER_CELLS);
  const bar = new cliProgress.SingleBar({
    stream: io.stderr,
    format: `{name} {bar} {percentage}% {sent} of ${sizeText(bytes)}`,
    barsize: BAR_CELLS,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    clearOnComplete: true,
    // Whoever ends the program with Ctrl-C finds cursor and line wrapping as they were.
    hideCursor: false,
    linewrap: true,
    fps: 1_000 / SHOWN_EVERY_MS,
  });
  const shown = cutText(plainLine(name), width);
  bar.start(bytes, 0, { name: shown, sent: sizeText(0) });
  const watch = new SocketWatch();
  const timer = setInterval(() => {
    const sent = Math.min(bytes, watch.sent());
    bar.update(sent, { name: shown, sent: sizeText(sent) });
  }, SHOWN_EVERY_MS);
  return {
    end(sent) {
      clearInterval(timer);
      watch.end();
      if (sent) bar.update(bytes, { name: shown, sent: sizeText(bytes) });
      bar.stop();
    },
  };
}

/** The bytes in pieces: Node hands a socket a piece at a time, and the next one when there is room. One big piece would be sent at once. */
export function inPieces(data: Uint8Array<ArrayBuffer>): Blob {
  const pieces = [];
  for (let at = 0; at < data.length; at += PIECE_BYTES) pieces.push(data.subarray(at, at + PIECE_BYTES));
  return new Blob(pieces);
}

/** How many bytes the socket of the newest request with a body has taken since its headers. */
class SocketWatch {
  readonly #channel = channel('undici:client:sendHeaders');
  #socket: Socket | undefined;
  #before = 0;

  constructor() {
    this.#channel.subscribe(this.#note);
  }

  sent(): number {
    return this.#socket ? Math.max(0, this.#socket.bytesWritten - this.#before) : 0;
  }

  end(): void {
    this.#channel.unsubscribe(this.#note);
  }

  readonly #note = (message: unknown): void => {
    const { request, socket } = message as { request: { method: string }; socket: Socket };
    if (request.method !== 'POST' && request.method !== 'PUT') return;
    this.#socket = socket;
    this.#before = socket.bytesWritten;
  };
}
