import { shorten } from '../../core/text.ts';
import type { Block } from './extract/blocks.ts';
import type { Passage } from './passages.ts';
import { estimateWords, piecesOf, type SizeLimits, sentencesOf } from './splitText.ts';

/** Target size of a passage. */
const TARGET: SizeLimits = { words: 250, chars: 1800 };
/** Maximum size of a passage. It is larger than the target, so that a paragraph is not cut for a few words. */
const LIMIT: SizeLimits = { words: 300, chars: 2000 };
/** A passage with fewer words is filled with a part of the next paragraph. */
const ENOUGH_WORDS = 120;
/** Maximum size of the overlap: the end of a passage that the next one repeats. */
const OVERLAP: SizeLimits = { words: 40, chars: 300 };
/** Names of columns that are longer are not repeated. */
const MAX_HEADER: SizeLimits = { words: 60, chars: 400 };
/** Headings and paths of headings are cut to this length. */
const MAX_HEADING_CHARS = 150;
const MAX_PATH_CHARS = 500;

/**
 * Splits a document into passages by its structure. No passage contains a heading. Paragraphs stay whole where they fit, and are cut
 * between sentences where they do not. A passage begins with the last sentences of the passage before it in the same section.
 */
export async function* splitBlocks(blocks: AsyncIterable<Block> | Iterable<Block>): AsyncGenerator<Passage> {
  let seq = 0;
  const sections = new Sections();
  let passage = new Draft(null);
  const end = (): Passage[] => {
    const written = passage.text();
    return written === '' ? [] : [{ seq: seq++, heading: passage.heading, page: passage.page, content: written }];
  };
  for await (const block of blocks) {
    const text = clean(block.text);
    if (text === '') continue;
    if (block.type === 'heading') {
      yield* end();
      const alone = sections.enter(block.level ?? 1, text, block.page ?? null);
      if (alone) yield { seq: seq++, ...alone };
      passage = new Draft(sections.path());
      // Of one that is longer the path has the beginning only.
      if (text.length <= MAX_HEADING_CHARS) continue;
    }
    sections.fill();
    for (const piece of piecesOfBlock(block, text, () => passage)) {
      if (!passage.fits(piece.text)) {
        yield* end();
        passage = passage.next(piece);
      }
      passage.add(piece, block.page ?? null);
    }
  }
  yield* end();
  const alone = sections.enter(1, '', null);
  if (alone) yield { seq: seq++, ...alone };
}

/** A piece of text that is not split further. */
interface Piece {
  text: string;
  /** The separator between it and the piece before. */
  gap: '' | '\n' | '\n\n';
  /** Whether the next passage may repeat it. */
  repeats: boolean;
  /** What a passage that begins with it begins with. */
  header: string;
}

function* piecesOfBlock({ type, header: names = '' }: Block, text: string, passage: () => Draft): Generator<Piece> {
  const header = within(names, MAX_HEADER) ? names : '';
  const gap = type === 'row' ? '\n' : '\n\n';
  const repeats = type !== 'row';
  const keptWhole = within(text, LIMIT) && (repeats ? passage().fits(text) || passage().words >= ENOUGH_WORDS : true);
  if (keptWhole) {
    yield { text, gap, repeats, header };
    return;
  }
  let first = true;
  for (const sentence of sentencesOf(text)) {
    for (const piece of within(sentence, TARGET) ? [sentence] : piecesOf(sentence, TARGET)) {
      yield { text: piece, gap: first ? gap : '', repeats, header };
      first = false;
    }
  }
}

function within(text: string, { words, chars }: SizeLimits): boolean {
  return text.length <= chars && estimateWords(text) <= words;
}

/** A passage that is being filled. */
class Draft {
  readonly heading: string | null;
  page: number | null = null;
  words = 0;
  #content = '';
  /** The content without the overlap. */
  #own = '';
  #repeats = true;

  constructor(heading: string | null, overlap = '') {
    this.heading = heading;
    this.#content = overlap;
    this.words = estimateWords(overlap);
  }

  fits(text: string): boolean {
    if (this.#own === '') return true;
    return this.#content.length + text.length + 2 <= TARGET.chars && this.words + estimateWords(text) <= TARGET.words;
  }

  add({ text, gap, repeats, header }: Piece, page: number | null): void {
    if (this.#own === '') this.page = page;
    const isBelowHeader = this.#own === '' && header !== '';
    this.#content += (this.#content === '' ? '' : isBelowHeader ? '\n' : gap) + text;
    this.#own += (this.#own === '' ? '' : gap) + text;
    this.#repeats = repeats;
    this.words += estimateWords(text);
  }

  /** Returns the next passage. It begins with the end of this one, or the names of the columns, if that leaves room for the piece. */
  next(piece: Piece): Draft {
    const repeated = this.#repeats && piece.repeats ? lastSentences(this.#own) : '';
    const overlap = piece.header === '' ? repeated : piece.header;
    const room = { words: LIMIT.words - estimateWords(overlap), chars: LIMIT.chars - overlap.length - 2 };
    return new Draft(this.heading, within(piece.text, room) ? overlap : '');
  }

  /** Its content; empty when it has only overlap. */
  text(): string {
    return this.#own.trim() === '' ? '' : this.#content.trim();
  }
}

/** Returns as many of the last sentences as fit into the overlap. */
function lastSentences(text: string): string {
  const tail = text.slice(-2 * OVERLAP.chars);
  const sentences = [...sentencesOf(tail)];
  // The first sentence of a cut text is incomplete.
  if (tail.length < text.length) sentences.shift();
  let overlap = '';
  for (const sentence of sentences.reverse()) {
    if (!within((sentence + overlap).trim(), OVERLAP)) break;
    overlap = sentence + overlap;
  }
  return overlap.trimStart();
}

/** The headings above the current position. */
class Sections {
  #open: { level: number; text: string }[] = [];
  /** The last heading, while it has no content. */
  #bare: { level: number; page: number | null } | undefined;

  /** Enters the section of a heading. Returns the heading before as a passage of its own when it has no content. */
  enter(level: number, text: string, page: number | null): Omit<Passage, 'seq'> | undefined {
    const last = this.#open.at(-1);
    const alone =
      this.#bare && last && level <= this.#bare.level
        ? { heading: this.path(), page: this.#bare.page, content: last.text }
        : undefined;
    while ((this.#open.at(-1)?.level ?? 0) >= level) this.#open.pop();
    this.#open.push({ level, text: shorten(text.replace(/\s+/g, ' '), MAX_HEADING_CHARS) });
    this.#bare = { level, page };
    return alone;
  }

  /** Notes that the last heading has content. */
  fill(): void {
    this.#bare = undefined;
  }

  /** Returns the headings from the outermost to the innermost; null when there is none. */
  path(): string | null {
    const texts = this.#open.map(({ text }) => text);
    while (texts.length > 1 && texts.join(' > ').length > MAX_PATH_CHARS) texts.shift();
    return texts.length === 0 ? null : texts.join(' > ');
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed.
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f\u00ad\u2060\ufeff]/g;

/** Removes characters that PostgreSQL cannot store or that are invisible, also where a word may be divided. */
function clean(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(INVISIBLE, '').toWellFormed().trim();
}
