const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;
const HYPHENATED = /([\p{L}\p{N}]+)[-\u2010]$/u;
/** A name in quotation marks that is a part of a word. */
const QUOTED_PART = /["'”“»’)\]][-\u2010]$/u;
const BEGINS = /^[\p{L}\p{N}]+/u;
const WORDS = /[\p{L}\p{N}]+(?:[-\u2010][\p{L}\p{N}]+)*/gu;
/** A hyphen before one of these stands for the rest of a compound: `Ein- und Ausgabe`. */
const BETWEEN_PARTS = new Set('und oder bzw sowie als bis and or to en of och eller og et ou e o y'.split(' '));
/** A path or an address that goes on in the next line: `/etc/`, `https://`. */
const PATH_END = /[^\s/]\/$|:\/\/$/;
/** Of a text, what decides how it goes on. */
const END_CHARS = 60;

/**
 * Joins the lines of a paragraph. A hyphen at the end of a line may divide a word (`ware-house`) or belong to it (`well-known`): the
 * document's other lines say which. Where they do not, a small letter behind it is taken for the rest of a word, if lines are
 * hyphenated there at all.
 */
export class LineEnds {
  readonly #words = new Set<string>();
  readonly #compounds = new Set<string>();
  readonly #areWordsDivided: boolean;

  /** @param areWordsDivided whether whoever set the lines divides words, as those of a PDF do, and of a plain text do not. */
  constructor(lines: Iterable<string>, areWordsDivided: boolean) {
    this.#areWordsDivided = areWordsDivided;
    for (const line of lines) {
      for (const [word] of line.toLowerCase().matchAll(WORDS)) {
        const parts = word.split(/[-\u2010]/);
        for (const [at, part] of parts.entries()) {
          this.#words.add(part);
          if (at > 0) this.#compounds.add(`${parts[at - 1]}-${part}`);
        }
      }
    }
  }

  /** The text with its next line. All but the last characters of the text stay as they are. */
  join(text: string, next: string): string {
    // A paragraph may have megabytes.
    const end = text.slice(-END_CHARS);
    if (end.endsWith('\u00ad')) return text.slice(0, -1) + next;
    if (PATH_END.test(end)) return text + next;
    const before = HYPHENATED.exec(end)?.[1];
    const after = BEGINS.exec(next)?.[0];
    if (before !== undefined && after !== undefined) {
      const [first, last] = [before.toLowerCase(), after.toLowerCase()];
      const isSmall = /^\p{Ll}/u.test(after) && /\p{Ll}$/u.test(before);
      if (isSmall && this.#words.has(first + last)) return text.slice(0, -1) + next;
      if (this.#compounds.has(`${first}-${last}`)) return text + next;
      if (BETWEEN_PARTS.has(last)) return `${text} ${next}`;
      return (isSmall && this.#areWordsDivided ? text.slice(0, -1) : text) + next;
    }
    if (after !== undefined && QUOTED_PART.test(end)) return text + next;
    const asian = CJK.test(text.at(-1) ?? '') && CJK.test(next[0] ?? '');
    return text + (asian ? '' : ' ') + next;
  }
}

const SENTENCE_END = /[.!?:;…。！？：；]["')\]”’»」』]*$/u;
/** A line that begins so is not the rest of a sentence. */
const BEGINS_ANEW = /^[^\p{L}\p{N}"'(“‘«„「『/]/u;
/** A line of so many characters was broken because it was full. */
const FULL_LINE = 55;

/** Whether a line on the next page goes on with the sentence of a line at the end of a page. */
export function goesOn(last: string, next: string): boolean {
  if (SENTENCE_END.test(last) || BEGINS_ANEW.test(next)) return false;
  if (/^\p{Ll}/u.test(next) && /[\p{L}\p{N},)”»"'-]$/u.test(last)) return true;
  if (CJK.test(last.at(-1) ?? '') && CJK.test(next[0] ?? '')) return last.length >= FULL_LINE / 2;
  // Nouns of German have a capital, and so have names.
  return last.length >= FULL_LINE && /[\p{Ll},]$/u.test(last) && /^\p{L}/u.test(next);
}
