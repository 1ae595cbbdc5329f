import { cutText } from '../../../core/text.ts';

/** Characters of a text that are looked at: a document may have one of megabytes. */
const MAX_READ = 6_000;

const BLOCK_TAGS =
  /<\/?(?:p|br|div|ul|ol|table|thead|tbody|tr|h[1-6]|pre|blockquote|section|hr|dl|dt|dd)(?:\s[^<>]*)?\/?>/gi;
const ITEM_TAGS = /<li(?:\s[^<>]*)?>/gi;
/** Other elements of texts. A word in angle brackets that is none of them, such as `<owner>`, is text. */
const INLINE_TAGS =
  /<\/?(?:a|abbr|b|cite|code|del|em|font|i|img|ins|kbd|li|mark|s|small|span|strong|sub|sup|td|th|tt|u|var)(?:\s[^<>]*)?\/?>/gi;
/** Elements of the documents of AWS for what is a note elsewhere. */
const NOTE_TAGS = /<(note|important|caution|tip|warning)>\s{0,20}(?:<p>)?/gi;
const NOTE_ENDS = /<\/(?:note|important|caution|tip|warning)>/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
};

/** A text without HTML, and with Markdown's links and images as the words that a reader sees. */
function plainText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(NOTE_TAGS, '\n\n$1: ')
    .replace(NOTE_ENDS, '\n\n')
    .replace(BLOCK_TAGS, '\n')
    .replace(ITEM_TAGS, '\n- ')
    .replace(INLINE_TAGS, '')
    .replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,5}));/g, (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replace(/!\[[^[\]]{0,300}\]\([^()\s]{0,1000}\)/g, '')
    .replace(/\[([^[\]]{1,300})\]\((?:[^()\s]|\([^()\s]*\)){0,1000}(?:\s+"[^"\n]{0,300}")?\)/g, '$1')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
}

const NOTE = /^(?:>\s*)?(?:\[!\w+\]|[*_]{0,3}(?:notes?|warning|important|tip|caution)\b[*_]{0,3}\s*:)/i;
/** A sentence such as `_NOTE: Only users with push access can set labels._` within a text. */
const INNER_NOTE = /\s*(?:_|\*\*?)NOTES?:[^_*\n]{0,1000}(?:(?:_|\*\*?)(?!\w)|(?=\*\*))/gi;

type Kind = 'said' | 'note' | 'media';

/**
 * The paragraphs of a text that tell what an operation does, and those that are notes beside it. What is said of media types is left out:
 * the service chooses them.
 */
function paragraphsOf(text: string): { said: string[]; notes: string[] } {
  const said: string[] = [];
  const notes: string[] = [];
  let before: Kind = 'said';
  for (const block of text.split(/\n{2,}/)) {
    const isList = /^\s*(?:[-*+]|\d+\.)\s/.test(block);
    // The list that a paragraph announces goes with it.
    const kind: Kind = isList && before !== 'said' ? before : kindOf(block);
    before = kind;
    const bare = block
      .replace(/^>\s?/gm, '')
      .replace(/^\s*\[!\w+\]\s*/, '')
      .trim();
    if (bare === '' || kind === 'media') continue;
    (kind === 'note' ? notes : said).push(bare);
  }
  return { said, notes };
}

function kindOf(block: string): Kind {
  if (/\bmedia types?\b/i.test(block)) return 'media';
  return NOTE.test(block) ? 'note' : 'said';
}

/**
 * What a model reads of an operation: at most `max` characters of its summary and description, without HTML, addresses and what is said of
 * media types. Notes come last, and only while there is room.
 */
export function operationText({ summary, description }: Record<string, unknown>, max: number): string {
  const texts = [summary, description].map((text) =>
    typeof text === 'string' ? plainText(cutText(text, MAX_READ)) : '',
  );
  const { said, notes } = paragraphsOf([...new Set(texts)].filter((text) => text !== '').join('\n\n'));
  const paragraphs = [...said, ...notes];
  let whole = '';
  for (const paragraph of paragraphs) {
    const next = whole === '' ? paragraph : `${whole}\n\n${paragraph}`;
    if (next.length > max) {
      if (said.includes(paragraph)) whole = sentences(next, max);
      break;
    }
    whole = next;
  }
  return whole;
}

/** What a model reads of a parameter or a field: whole sentences of at most `max` characters, on one line, without HTML, addresses and notes. */
export function fieldText(description: unknown, max: number): string {
  if (typeof description !== 'string' || max <= 0) return '';
  const text = plainText(cutText(description, MAX_READ)).replace(INNER_NOTE, '');
  const { said, notes } = paragraphsOf(text);
  const kept = said.length > 0 ? said : notes;
  return sentences(kept.join(' ').replace(/\s+/g, ' ').trim(), max);
}

/** The whole sentences that fit; the beginning of the first one if it is longer. */
function sentences(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const cut = cutText(text, max - 1);
  const end = Math.max(...[...cut.matchAll(/[.!?:](?=\s)/g)].map(({ index }) => index), 0);
  if (end >= max / 3) return cut.slice(0, end + 1);
  return `${cut.replace(/\s+\S*$/, '')}…`;
}
