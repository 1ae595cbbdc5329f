const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });

/** Abbreviations, initials and ordinals: "Dr. Who", "z. B. so", "am 3. Mai". The full stop ends no sentence there. */
const ABBREVIATION = /(?:^|[\s.(])(?:\p{Lu}\p{L}{0,2}|\p{L}|\d{1,2})\.\s*$/u;
/**
 * Parts of a text that are never cut. An address ends before white space and before Chinese and Japanese punctuation. A link holds no
 * other bracket: else the text would be read up to 2,500 characters far from each bracket.
 */
const UNBROKEN = [
  /(?<!\[)\[+[^[\]]{0,500}\](?:\([^()]{0,1000}(?:\([^()]{0,1000})?\))?/g,
  /(?:https?:\/\/|www\.)[^\s<>\u3000-\u303f\uff00-\uff65]+/g,
  /<[a-z][^<>\s]{0,2000}>/gi,
  /\*\*[^*]{1,2000}\*\*/g,
];
const MAX_ABBREVIATION = 8;

/** The offsets at which sentences of a paragraph end, in any language: after the space that follows, and never within code or a link. */
export function sentenceEnds(paragraph: string): number[] {
  // Lines may be wrapped anywhere, and the segmenter would take every line for a sentence.
  const text = paragraph.replace(/[\n\r\u0085\u2028\u2029]/g, ' ');
  const spans = [...codeSpans(text), ...UNBROKEN.flatMap((pattern) => [...text.matchAll(pattern)].map(spanOf))].sort(
    (a, b) => a.start - b.start,
  );
  const ends: number[] = [];
  let next = 0;
  let within = 0;
  for (const { index, segment } of segmenter.segment(text)) {
    const end = index + segment.length;
    for (let span = spans[next]; span && span.start < end; span = spans[++next]) within = Math.max(within, span.end);
    if (end === text.length || end < within) continue;
    if (!ABBREVIATION.test(text.slice(Math.max(0, end - MAX_ABBREVIATION), end))) ends.push(end);
  }
  return ends;
}

interface Span {
  start: number;
  end: number;
}

const spanOf = (match: RegExpExecArray): Span => ({ start: match.index, end: match.index + match[0].length });

/** Inline code: from a run of backticks to the next one of the same length. */
function codeSpans(text: string): Span[] {
  const runs = [...text.matchAll(/`+/g)].map(spanOf);
  const spans: Span[] = [];
  /** Lengths that no later run has, so that they are not searched for again. */
  const unclosed = new Set<number>();
  let place = 0;
  for (let opening = runs[place]; opening; opening = runs[++place]) {
    const length = opening.end - opening.start;
    if (unclosed.has(length)) continue;
    let closing = place + 1;
    for (let run = runs[closing]; run && run.end - run.start !== length; run = runs[++closing]);
    const closed = runs[closing];
    if (closed) {
      spans.push({ start: opening.start, end: closed.end });
      place = closing;
    } else unclosed.add(length);
  }
  return spans;
}
