import { isUtf8 } from 'node:buffer';
import { JsonMeter } from '../../core/jsonBounds.ts';
import { OutgoingFailed } from '../../core/outgoing.ts';
import { ownTurn } from '../../core/ownTurn.ts';

/** What a server may still send: in one answer, on one stream, or in a whole session. */
export interface MessageBudget {
  /** Bytes of bodies. */
  left: number;
  /** Events of event streams that are no comments. Each is parsed and checked, which takes 30 µs, be it ten bytes long. */
  messages: number;
}

/** Of one answer, and of what a server says by itself in one session. One that reports progress ten times a second has 3,000 at most. */
export const MAX_MESSAGES = 10_000;
/** Of one message. Parsing more would take long. */
const MESSAGE_BOUNDS = { values: 50_000, depth: 50_000 };
/** Messages in one JSON text (revision 2025-03-26, basic#batching). All are checked in one turn of the event loop. */
const MAX_BATCH = 500;
/** Of one event stream; an event has three or four. */
const MAX_LINES = 250_000;
/** Lines of an event stream that are read in one turn of the event loop. */
const LINES_AT_ONCE = 64;
/** Pieces of a body that are read in one turn: a server can send them byte by byte. */
const PIECES_AT_ONCE = 64;
const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;

const tooMuch = () => new OutgoingFailed('too_large', 'The server sends more than can be read.');

/** Prepares the pieces of a body for the parser of the SDK. Throws at a message that is too large. */
interface PieceReader {
  /** The piece in parts, of which each is read in its own turn of the event loop. */
  parts(piece: Uint8Array): Uint8Array[];
}

/**
 * A body that is one JSON text, or a list of them. What is not UTF-8 is mended piece by piece: it takes the parser of the SDK, which decodes all of
 * it at once, ten times as long.
 */
class JsonPieces implements PieceReader {
  readonly #meter = new JsonMeter(MESSAGE_BOUNDS);
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #encoder = new TextEncoder();
  #isMended = false;

  parts(piece: Uint8Array): Uint8Array[] {
    if (this.#meter.add(piece) !== undefined || this.#meter.outermost > MAX_BATCH) throw tooMuch();
    // Of a character that is cut, the rest comes with the next piece.
    this.#isMended ||= !isUtf8(piece);
    return [this.#isMended ? this.#encoder.encode(this.#decoder.decode(piece, { stream: true })) : piece];
  }
}

/**
 * A stream of events, each of which has a message. Lines end with LF behind it: the parser of the SDK searches the whole rest of a piece for
 * the other line end at each line.
 */
class EventPieces implements PieceReader {
  readonly #budget: MessageBudget;
  #meter = new JsonMeter(MESSAGE_BOUNDS);
  #isMetered = false;
  #lines = 0;
  #isLineBegun = false;
  #isComment = false;
  #isAfterReturn = false;

  constructor(budget: MessageBudget) {
    this.#budget = budget;
  }

  parts(piece: Uint8Array): Uint8Array[] {
    const bytes = this.#withoutReturns(piece);
    const parts: Uint8Array[] = [];
    let from = 0;
    let lines = 0;
    for (let at = 0; at < bytes.length; ) {
      const found = bytes.indexOf(LINE_END, at);
      const end = found === -1 ? bytes.length : found;
      this.#add(bytes, at, end);
      if (found === -1) break;
      this.#endLine();
      at = end + 1;
      lines += 1;
      if (lines < LINES_AT_ONCE) continue;
      parts.push(bytes.subarray(from, at));
      from = at;
      lines = 0;
    }
    if (from < bytes.length) parts.push(bytes.subarray(from));
    return parts;
  }

  /** Takes what comes of a line. */
  #add(bytes: Uint8Array, at: number, end: number): void {
    if (at === end) return;
    if (!this.#isLineBegun) this.#isComment = bytes[at] === COLON;
    this.#isLineBegun = true;
    if (this.#isComment) return;
    this.#isMetered = true;
    if (this.#meter.add(bytes.subarray(at, end)) !== undefined) throw tooMuch();
  }

  #endLine(): void {
    const isBlank = !this.#isLineBegun;
    this.#isLineBegun = false;
    this.#lines += 1;
    if (this.#lines > MAX_LINES) throw tooMuch();
    // No text of JSON goes on over the end of a line: a quotation mark in another line would hide what follows from the measure.
    this.#meter.endText();
    if (!isBlank || !this.#isMetered) return;
    this.#meter = new JsonMeter(MESSAGE_BOUNDS);
    this.#isMetered = false;
    this.#budget.messages -= 1;
    if (this.#budget.messages < 0) throw tooMuch();
  }

  /** CR and CR LF end a line too. */
  #withoutReturns(piece: Uint8Array): Uint8Array {
    if (!this.#isAfterReturn && !piece.includes(CARRIAGE_RETURN)) return piece;
    const bytes = new Uint8Array(piece.length);
    let size = 0;
    for (const byte of piece) {
      const isSecond = byte === LINE_END && this.#isAfterReturn;
      this.#isAfterReturn = byte === CARRIAGE_RETURN;
      if (isSecond) continue;
      bytes[size] = this.#isAfterReturn ? LINE_END : byte;
      size += 1;
    }
    return bytes.subarray(0, size);
  }
}

/**
 * The body of a response, with what it has subtracted from the budget; it fails when that is used up, and at a message that is too large.
 * However a server cuts it into pieces and lines, others have their turns of the event loop in between. `finished` is called at its end, with the
 * error if it failed.
 */
export function boundedBody(
  body: ReadableStream<Uint8Array>,
  isEvents: boolean,
  budget: MessageBudget,
  finished: (error?: unknown) => void,
): ReadableStream<Uint8Array> {
  const source = body.getReader();
  const pieces: PieceReader = isEvents ? new EventPieces(budget) : new JsonPieces();
  let parts: Uint8Array[] = [];
  let read = 0;
  let cancelled = false;

  async function nextPart(): Promise<Uint8Array | undefined> {
    const waiting = parts.shift();
    if (waiting) {
      await ownTurn();
      return waiting;
    }
    for (;;) {
      const { done, value } = await source.read();
      if (done || cancelled) return undefined;
      read += 1;
      if (read % PIECES_AT_ONCE === 0) await ownTurn();
      budget.left -= value.length;
      if (budget.left < 0) throw tooMuch();
      parts = pieces.parts(value);
      const first = parts.shift();
      if (first) return first;
    }
  }

  return new ReadableStream({
    async pull(controller) {
      try {
        const part = await nextPart();
        if (cancelled) return;
        if (part) return controller.enqueue(part);
        finished();
        controller.close();
      } catch (error) {
        if (cancelled) return;
        finished(error);
        controller.error(error);
        await source.cancel().catch(() => undefined);
      }
    },
    cancel(reason) {
      cancelled = true;
      return source.cancel(reason);
    },
  });
}
