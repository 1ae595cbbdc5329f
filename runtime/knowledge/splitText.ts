/** The size of a passage. */
export interface SizeLimits {
  words: number;
  chars: number;
}

/** Scripts without spaces between words. */
const UNSPACED = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const UNITS = new RegExp(`[${UNSPACED}]|[^\\s${UNSPACED}]+`, 'gu');
const UNSPACED_CHAR = new RegExp(`[${UNSPACED}]`, 'u');
/** Average letters of a word in scripts without spaces. */
const LETTERS_A_WORD = 2;
/** Longer texts are cut at a space before they are split into sentences. */
const SENTENCE_WINDOW = 10_000;

const sentenceSegmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const wordSegmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
const characterSegmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Estimates the number of words in any script. */
export function estimateWords(text: string): number {
  if (!UNSPACED_CHAR.test(text)) return text.match(/\S+/g)?.length ?? 0;
  let words = 0;
  for (const [unit] of text.matchAll(UNITS)) words += UNSPACED_CHAR.test(unit) ? 1 / LETTERS_A_WORD : 1;
  return words;
}

/** Splits a text into sentences with the space after them. Joined, they are the text again. */
export function* sentencesOf(text: string): Generator<string> {
  for (const part of piecesOf(text, { words: Number.POSITIVE_INFINITY, chars: SENTENCE_WINDOW })) {
    for (const { segment } of sentenceSegmenter.segment(part)) yield segment;
  }
}

/** Cuts a text into pieces within the limits, at spaces or else between words or characters; joined they are the text again. */
export function* piecesOf(text: string, limits: SizeLimits): Generator<string> {
  let start = 0;
  while (
    text.length - start > limits.chars ||
    (start < text.length && estimateWords(text.slice(start)) > limits.words)
  ) {
    const end =
      start + cutAt(text.slice(start, start + limits.chars), limits.words, text.length - start <= limits.chars);
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length) yield text.slice(start);
}

/** Where a window is cut: after the last space within the limit of words, or else after a word, or else a character. */
function cutAt(window: string, words: number, isRest: boolean): number {
  let cut = 0;
  let seen = 0;
  for (const match of window.matchAll(/\S+\s*/g)) {
    const end = match.index + match[0].length;
    seen += estimateWords(match[0]);
    // A sentence at the end of the window may continue after it.
    const whole = isRest || /\s$/.test(match[0]);
    if (seen > words || !whole) break;
    cut = end;
  }
  if (cut > 0) return cut;
  return lastWithin(wordSegmenter, window, words) || lastWithin(characterSegmenter, window, words) || window.length;
}

function lastWithin(segmenter: Intl.Segmenter, window: string, words: number): number {
  let cut = 0;
  let seen = 0;
  for (const { index, segment } of segmenter.segment(window)) {
    const end = index + segment.length;
    seen += estimateWords(segment);
    if (end === window.length || seen > words) break;
    cut = end;
  }
  return cut;
}
