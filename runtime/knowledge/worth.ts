/** What the score of a passage is multiplied by that only lists what other passages are about. */
const OF_LIST = 0.3;
/** Longer passages than the service makes are judged by their beginning. */
const MAX_CHARS = 5_000;
/** With fewer lines nothing is called a list. */
const MIN_LINES = 5;
const MOST = 0.6;
/** Dots without end say no more than a few, and the patterns below try each beginning. */
const LONG_LEADER = /(?:\.[^\S\n]?){20,}/g;
/** `Title ..... 12`, as tables of contents have it. */
const LEADER = /(?:\.\s?){4,}\s*\d{0,5}\s*$|\s(?:[._·]\s?){4,}/;
/** `3.1.4 Title`. A list of steps has no such numbers. */
const NUMBERED = /^(?:\d+|[A-Z])(?:\.\d+)+\.?\s+\S.{0,150}$/u;
/** `Title 12`. In a table of contents the numbers go up; in a price list they do not. */
const PAGED = /^.{2,150}[^\d\s.,:;]\s+(\d{1,4})$/u;
const SENTENCE_END = /[.!?…。！？]["')\]”’»]*$/u;
const NUMBERING = /^[\s\d.)\-–•*]+|[\s.·_]*\d*\s*$/gu;
/** In a table of contents that is one line, so many of its words are numbers. */
const NUMBERS_IN_LIST = 0.2;
const MIN_WORDS_IN_LIST = 25;

/** The headings of a source's passages, as `worthOf` compares lines with them. */
export function headingsOf(passages: readonly { heading: string | null }[]): ReadonlySet<string> {
  return new Set(
    passages.map(({ heading }) => titleOf(heading?.split(' > ').at(-1) ?? '')).filter((one) => one !== ''),
  );
}

/**
 * What the score of a passage is multiplied by: 1, or less for a table of contents and other lists of headings. They have many words that people ask for, and
 * answer nothing.
 */
export function worthOf(whole: string, headings: ReadonlySet<string>): number {
  const content = whole.slice(0, MAX_CHARS).replace(LONG_LEADER, '......... ');
  const lines = content
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length >= MIN_LINES) {
    const paged = goesUp(lines.flatMap((line) => PAGED.exec(line)?.[1] ?? []).map(Number));
    const listed = lines.filter(
      (line) => LEADER.test(line) || isTitle(line, headings) || (paged && PAGED.test(line)),
    ).length;
    return listed >= lines.length * MOST ? OF_LIST : 1;
  }
  if ((content.match(/(?:\.\s?){5,}\s*\d/g)?.length ?? 0) >= MIN_LINES) return OF_LIST;
  const words = content.split(/\s+/);
  const sentences = words.filter((word) => /\p{L}{2}[.!?。！？]$/u.test(word)).length;
  const numbers = words.filter((word) => /^\d+(?:\.\d+)*\.?$/.test(word)).length;
  const isRun = words.length >= MIN_WORDS_IN_LIST && numbers >= words.length * NUMBERS_IN_LIST && sentences === 0;
  return isRun && /\d+\.\d+/.test(content) ? OF_LIST : 1;
}

function isTitle(line: string, headings: ReadonlySet<string>): boolean {
  const title = titleOf(line);
  if (title !== '' && headings.has(title)) return true;
  return NUMBERED.test(line) && !SENTENCE_END.test(line);
}

function goesUp(numbers: readonly number[]): boolean {
  return numbers.length >= MIN_LINES && numbers.every((each, at) => at === 0 || each >= (numbers[at - 1] ?? 0));
}

function titleOf(line: string): string {
  return line.replace(NUMBERING, '').toLowerCase();
}
