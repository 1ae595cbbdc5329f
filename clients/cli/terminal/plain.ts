/*
 * Text from elsewhere (answers of agents, names of resources, messages of errors) may contain characters that drive a terminal: they move
 * the cursor, change the title, put text into the clipboard or rewrite what stands above. None of them reaches a terminal from here.
 */

/** C0 without tab and line feed, DEL, and C1, which some terminals take as ESC and a letter. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;
/** What changes the direction of a whole line: with it, one cell reorders its neighbours. The marks for one character are harmless. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;
const LINE_BREAKS = /\r\n|[\n\r\u0085\u2028\u2029]/g;

/** The picture that Unicode has of a control character, such as `␛`; C1 has none. */
function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code === 0x7f) return '\u2421';
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
}

/**
 * The text as a terminal may print it: line breaks (`\r\n` too) and tabs stay, other control characters become pictures of themselves,
 * so that a reader sees that there was something.
 */
export function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROLS, pictureOf);
}

/** The text in one line: line breaks become `⏎`, tabs a space, and nothing changes the direction of what stands beside it. */
export function plainLine(text: string): string {
  return text.replace(LINE_BREAKS, '⏎').replaceAll('\t', ' ').replace(DIRECTIONS, '').replace(CONTROLS, pictureOf);
}

/** `plainText` for a text that comes in pieces: a `\r` at the end of a piece waits for the next one, which may begin with its `\n`. */
export class PlainStream {
  #held = '';

  /** What can be printed now. */
  push(piece: string): string {
    const text = this.#held + piece;
    this.#held = text.endsWith('\r') ? '\r' : '';
    return plainText(this.#held ? text.slice(0, -1) : text);
  }

  /** What was held back, when no piece follows. */
  end(): string {
    const text = plainText(this.#held);
    this.#held = '';
    return text;
  }
}
