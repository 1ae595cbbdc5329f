/*
 * The format of gpt-oss (https://cookbook.openai.com/articles/openai-harmony), as a server without a parser for it hands it on: messages of a
 * header, `<|message|>`, a text and `<|end|>`, each on a channel. `final` is the answer, `commentary` without a recipient is said to
 * the user before calls, and everything else is thoughts or the raw form of a call.
 */

/** What an answer in the format begins with. */
export const HARMONY_OPENINGS: readonly string[] = [
  '<|start|>assistant<|channel|>',
  '<|channel|>analysis',
  '<|channel|>commentary',
  '<|channel|>final',
];

const MESSAGE = '<|message|>';
const TAGS = ['<|start|>', '<|channel|>', '<|end|>', '<|return|>', '<|call|>'];
const TAG = /<\|(?:start|channel|(end|return|call))\|>/;
/** The longest of them without its last character: so much of a piece may be the beginning of one. */
const MAX_HELD = Math.max(...TAGS.map(({ length }) => length)) - 1;
/** Headers have a role, a channel and the name of a tool. */
const MAX_HEADER = 500;
const AT_END = /<\|(?:end|return)\|>\s{0,200}$/;

/** Where the beginning of a tag may stand at the end of a text; the length of the text when there is none. */
function mayBegin(text: string): number {
  const from = Math.max(0, text.length - MAX_HELD);
  const at = text.indexOf('<', from);
  for (let place = at; place >= 0; place = text.indexOf('<', place + 1)) {
    const rest = text.slice(place).trimEnd();
    if (TAGS.some((tag) => tag.startsWith(rest))) return place;
  }
  return text.length;
}

/** Takes what is said to the user out of an answer in the format, piece by piece. Pieces may end anywhere, also within a tag. */
export class HarmonyReader {
  #part: 'header' | 'thoughts' | 'said' | 'final' | 'between' = 'header';
  #held = '';
  #hasMessage = false;
  /** Something was shown, so the next message begins a paragraph. */
  #hasShown = false;
  /** Whether a message was on another channel than the user's. */
  hasThoughts = false;

  /** What of a piece can be shown. */
  take(piece: string): string {
    this.#held += piece;
    let shown = '';
    for (let before = ''; before !== `${this.#part} ${this.#held.length}`; ) {
      before = `${this.#part} ${this.#held.length}`;
      shown += this.#step();
    }
    return shown;
  }

  /** What is left to show when the answer has ended. A header that never got its text is shown when it is all there is. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    if (this.#part === 'thoughts' || (this.#part === 'header' && this.#hasMessage)) return '';
    return this.#part === 'header' ? rest : rest.replace(AT_END, '');
  }

  #step(): string {
    switch (this.#part) {
      case 'header':
        return this.#header();
      case 'final':
        return this.#final();
      default:
        return this.#message();
    }
  }

  #header(): string {
    const at = this.#held.slice(0, MAX_HEADER + MESSAGE.length).indexOf(MESSAGE);
    if (at < 0) {
      // Not the format after all.
      if (this.#held.length > MAX_HEADER) this.#part = 'final';
      return '';
    }
    const header = this.#held.slice(0, at);
    const [, channel = 'final'] = /<\|channel\|>\s*(\w+)/.exec(header) ?? [];
    this.#held = this.#held.slice(at + MESSAGE.length);
    this.#hasMessage = true;
    const isSaid = channel === 'final' || (channel === 'commentary' && !/\bto=/.test(header));
    this.#part = channel === 'final' ? 'final' : isSaid ? 'said' : 'thoughts';
    this.hasThoughts ||= !isSaid;
    const between = isSaid && this.#hasShown ? '\n\n' : '';
    this.#hasShown ||= isSaid;
    return between;
  }

  /** The answer: all of it, but for the tag at its end. A text about the format may have tags in the middle. */
  #final(): string {
    const end = AT_END.exec(this.#held)?.index ?? mayBegin(this.#held);
    const shown = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return shown;
  }

  /** A message before the answer, or what stands between two. */
  #message(): string {
    const isShown = this.#part !== 'thoughts';
    if (this.#part === 'between') this.#held = this.#held.trimStart();
    const found = TAG.exec(this.#held);
    const until = found?.index ?? mayBegin(this.#held);
    const text = this.#held.slice(0, until);
    const isEnd = found?.[1] !== undefined;
    this.#held = this.#held.slice(isEnd ? until + found[0].length : until);
    if (found) this.#part = isEnd ? 'between' : 'header';
    return isShown ? text : '';
  }
}
