import type { Line } from './pdfLayout.ts';

/** A line at the edge that is the same on this share of the pages is a running head or foot. */
const RUNNING_SHARE = 0.6;
const RUNNING_PAGES = 4;
/** Page numbers count when so many pages agree on the difference between the number and the place of the page. */
const COUNTING_SHARE = 0.3;
/** A head that names its chapter is on some pages only. It stands where the heads of most pages stand, within so many points. */
const CHAPTER_PAGES = 3;
const SAME_HEIGHT = 3;
const MAX_HEAD_CHARS = 120;
const SHOUTED_SHARE = 0.9;

interface EdgeLine {
  line: Line;
  edge: 'top' | 'bottom';
  /** 1: the outermost line of its edge. */
  rank: number;
}

/**
 * The running heads and feet of a document and its page numbers: lines at the edge of a page that repeat on most pages (numbers do not
 * count as a difference), that begin or end with the number of the page, or that repeat where the other heads stand. `isHeading` lines are
 * kept. Takes time in proportion to the lines.
 */
export function runningLines(pages: readonly (readonly Line[])[], isHeading: (line: Line) => boolean): Set<Line> {
  const running = new Set<Line>();
  const edges = pages.map((page) => edgeLines(page).filter(({ line }) => !isHeading(line)));
  const enough = Math.max(RUNNING_PAGES, pages.length * RUNNING_SHARE);
  const offset = pageOffset(edges);
  // The number of the page is no difference between lines, and other numbers are.
  const keyOf = ({ line, edge }: EdgeLine, place: number) =>
    `${edge} ${line.text
      .replace(/\d+/g, (number) => (Number(number) === place + (offset ?? Number.NaN) ? '#' : number))
      .replace(ROMAN_END, '#')}`;
  const counts = tally(edges.flatMap((page, place) => [...new Set(page.map((one) => keyOf(one, place)))]));
  const heights = usualHeights(edges, enough);
  const shouting = shoutedHeights(edges, heights);
  for (const [place, page] of edges.entries()) {
    for (const one of page) {
      const { line, rank } = one;
      const count = counts.get(keyOf(one, place)) ?? 0;
      const numbered = offset !== undefined && numbersOf(line.text).includes(place + offset);
      const isRoman = pages.length >= RUNNING_PAGES && rank === 1 && /^[ivxlc]{1,8}$/u.test(line.text);
      const isChapter =
        count >= CHAPTER_PAGES && rank === 1 && heights.has(height(line)) && line.text.length <= MAX_HEAD_CHARS;
      const isShouted = rank === 1 && shouting.has(height(line));
      if (count >= enough || (numbered && rank === 1) || isRoman || isChapter || isShouted) running.add(line);
    }
  }
  return running;
}

/** The two outermost lines at each edge of a page; of one height, all. */
function edgeLines(page: readonly Line[]): EdgeLine[] {
  const heights = [...new Set(page.map(({ y }) => y))].sort((a, b) => b - a);
  const rankOf = new Map(heights.map((y, at) => [y, { top: at + 1, bottom: heights.length - at }]));
  return page.flatMap((line): EdgeLine[] => {
    const { top = 0, bottom = 0 } = rankOf.get(line.y) ?? {};
    // Of a page with a head and a foot only, the foot is the first line from the bottom, and not the second from the top.
    if (top <= 2 && top <= bottom) return [{ line, edge: 'top', rank: top }];
    return bottom <= 2 ? [{ line, edge: 'bottom', rank: bottom }] : [];
  });
}

/** The usual heights at which nearly all outermost lines are in capitals: heads that name a section of each page. */
function shoutedHeights(edges: readonly (readonly EdgeLine[])[], heights: ReadonlySet<number>): Set<number> {
  const there = edges.flatMap((page) => page.filter(({ line, rank }) => rank === 1 && heights.has(height(line))));
  const all = tally(there.map(({ line }) => height(line)));
  const shouted = tally(there.filter(({ line }) => isShouted(line.text)).map(({ line }) => height(line)));
  return new Set([...all].filter(([at, count]) => (shouted.get(at) ?? 0) >= count * SHOUTED_SHARE).map(([at]) => at));
}

function isShouted(text: string): boolean {
  return /\p{Lu}{3}/u.test(text) && !/\p{Ll}/u.test(text);
}

function tally<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The page number of front matter behind a title. */
const ROMAN_END = /(?<=\s)[ivxl]{1,7}$/u;
/** `3 of 12`, in the usual languages. */
const OF_ALL = /(?<=^|\s)(\d{1,5})\s*(?:\/|of|von|de|di|van|sur|z)\s*\d{1,5}$/iu;

/** The numbers with which a short line begins and ends, and the first of `3 of 12` at its end. */
function numbersOf(line: string): number[] {
  if (line.length > MAX_HEAD_CHARS) return [];
  const text = line.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const found = [/^(\d{1,5})(?=\s|$)/u, /(?<=^|\s)(\d{1,5})$/u, OF_ALL].flatMap(
    (pattern) => pattern.exec(text)?.[1] ?? [],
  );
  return found.map(Number);
}

/** The difference between the number that is printed on a page and its place, if enough pages agree on one. */
function pageOffset(edges: readonly (readonly EdgeLine[])[]): number | undefined {
  const offsets = edges.flatMap((page, place) => [
    ...new Set(
      page.filter(({ rank }) => rank === 1).flatMap(({ line }) => numbersOf(line.text).map((number) => number - place)),
    ),
  ]);
  const [best] = [...tally(offsets)].sort((a, b) => b[1] - a[1]);
  return best && best[1] >= Math.max(RUNNING_PAGES, edges.length * COUNTING_SHARE) ? best[0] : undefined;
}

function height({ y }: Line): number {
  return Math.round(y / SAME_HEIGHT);
}

/** Where the outermost lines of most pages stand. */
function usualHeights(edges: readonly (readonly EdgeLine[])[], enough: number): Set<number> {
  const all = edges.flatMap((page) => [
    ...new Set(page.filter(({ rank }) => rank === 1).map(({ line }) => height(line))),
  ]);
  return new Set([...tally(all)].filter(([, count]) => count >= enough).map(([place]) => place));
}
