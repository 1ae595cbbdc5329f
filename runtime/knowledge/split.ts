import { shorten } from '../../core/text.ts';
import type { Block } from './extract/blocks.ts';
import type { Passage } from './passages.ts';
import { countWords, piecesOf, type SizeLimits, sentencesOf } from './splitText.ts';

/** What a passage is filled up to. */
const TARGET: SizeLimits = { words: 250, chars: 1800 };
/** What no passage goes beyond: a paragraph that fits is not cut for a few words. */
const LIMIT: SizeLimits = { words: 300, chars: 2000 };
/** A passage with fewer words takes part of the next paragraph rather than end. */
const ENOUGH_WORDS = 120;
/** The end of a passage that the next one begins with. */
const OVERLAP: SizeLimits = { words: 40, chars: 300 };
/** A table of contents is no path; what is beyond is cut. */
const MAX_HEADING_CHARS = 150;
const MAX_PATH_CHARS = 500;

/**
 * Splits a document into passages by its structure: none goes across a heading, paragraphs are kept whole where they fit and cut
 * between sentences where they don't, and a passage begins with the last sentences of the one before it in its section.
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
      continue;
    }
    sections.fill();
    for (const piece of piecesOfBlock(block.type, text, () => passage)) {
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

/** A piece that goes into one passage whole. */
interface Piece {
  text: string;
  /** What stands between it and the piece before. */
  gap: '' | '\n' | '\n\n';
  /** Whether the next passage may repeat it. */
  repeats: boolean;
}

function* piecesOfBlock(type: Block['type'], text: string, passage: () => Draft): Generator<Piece> {
  const gap = type === 'row' ? '\n' : '\n\n';
  const repeats = type !== 'row';
  const keptWhole = within(text, LIMIT) && (repeats ? passage().fits(text) || passage().words >= ENOUGH_WORDS : true);
  if (keptWhole) {
    yield { text, gap, repeats };
    return;
  }
  let first = true;
  for (const sentence of sentencesOf(text)) {
    for (const piece of within(sentence, TARGET) ? [sentence] : piecesOf(sentence, TARGET)) {
      yield { text: piece, gap: first ? gap : '', repeats };
      first = false;
    }
  }
}

function within(text: string, { words, chars }: SizeLimits): boolean {
  return text.length <= chars && countWords(text) <= words;
}

/** A passage that is being filled. */
class Draft {
  readonly heading: string | null;
  page: number | null = null;
  words = 0;
  #content = '';
  /** What the passage has of its own, without what it repeats. */
  #own = '';
  #repeats = true;

  constructor(heading: string | null, overlap = '') {
    this.heading = heading;
    this.#content = overlap;
    this.words = countWords(overlap);
  }

  fits(text: string): boolean {
    if (this.#own === '') return true;
    return this.#content.length + text.length + 2 <= TARGET.chars && this.words + countWords(text) <= TARGET.words;
  }

  add({ text, gap, repeats }: Piece, page: number | null): void {
    if (this.#own === '') this.page = page;
    this.#content += (this.#content === '' ? '' : gap) + text;
    this.#own += (this.#own === '' ? '' : gap) + text;
    this.#repeats = repeats;
    this.words += countWords(text);
  }

  /** The passage after this one; it begins with the end of this one, if that leaves room for the piece. */
  next(piece: Piece): Draft {
    const overlap = this.#repeats && piece.repeats ? lastSentences(this.#own) : '';
    const room = { words: LIMIT.words - countWords(overlap), chars: LIMIT.chars - overlap.length - 2 };
    return new Draft(this.heading, within(piece.text, room) ? overlap : '');
  }

  /** Its content; empty when it has nothing of its own. */
  text(): string {
    return this.#own.trim() === '' ? '' : this.#content.trim();
  }
}

/** The last sentences that are short enough together. */
function lastSentences(text: string): string {
  const tail = text.slice(-2 * OVERLAP.chars);
  const sentences = [...sentencesOf(tail)];
  // Of a longer text the first one is cut.
  if (tail.length < text.length) sentences.shift();
  let overlap = '';
  for (const sentence of sentences.reverse()) {
    if (!within((sentence + overlap).trim(), OVERLAP)) break;
    overlap = sentence + overlap;
  }
  return overlap.trimStart();
}

/** The headings around the present place. */
class Sections {
  #open: { level: number; text: string }[] = [];
  /** The last heading, while nothing stands below it. */
  #bare: { level: number; page: number | null } | undefined;

  /** Goes on below a heading. Answers with the heading before as a passage of its own, when nothing stands below that. */
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

  /** Something stands below the last heading. */
  fill(): void {
    this.#bare = undefined;
  }

  /** The headings from the outermost to the innermost; null outside of all. */
  path(): string | null {
    const texts = this.#open.map(({ text }) => text);
    while (texts.length > 1 && texts.join(' > ').length > MAX_PATH_CHARS) texts.shift();
    return texts.length === 0 ? null : texts.join(' > ');
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f\ufeff]/g;

/** Without what PostgreSQL cannot store or nobody can see. */
function clean(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(INVISIBLE, '').toWellFormed().trim();
}
