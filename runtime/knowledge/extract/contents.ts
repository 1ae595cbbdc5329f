/** A title, and a page number at the end of a row of dots. The row may be cut at the end of a line. It is looked for from its beginning only. */
const LEADER = /(?<![.·…_][ \t]?)(?:[ \t]?[.·…_]){4,}[ \t]*(?:\d{1,5}|[ivxlc]{1,8})?[ \t]*$/iu;
/** Characters at the end of a line in which its row of dots is looked for. The line may have megabytes. */
const LEADER_CHARS = 160;
/** A title, and a page number some way behind it. */
const TITLE_AND_PAGE = /^\S.{0,150}?\S(?:[ \t]{2,}|\t)(\d{1,5})[ \t]*$/u;
/** A title that begins with the number of its section. */
const NUMBERED = /^[ \t]*(\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]+\S/u;
/** What stands above a table of contents. */
const WORD =
  /^\W*(?:table of )?(?:contents|inhalt|inhaltsverzeichnis|table des mati[eè]res|sommaire|[ií]ndice(?: general| generale)?|contenido|contenidos|tabla de contenidos?|sum[aá]rio|contenuti|inhoud|inhoudsopgave|spis treści|содержание|оглавление|目次|目录)\W*$/iu;
/** So few entries may be a list of something else. */
const [MIN_ENTRIES, MIN_PLAIN_ENTRIES] = [3, 5];
/** Lines between two entries: titles that take more than a line, chapters without dots, page numbers. */
const MAX_BETWEEN = 3;

/**
 * The places of the lines that belong to tables of contents: rows of dots, titles with page numbers, and numbered titles under a word such as
 * "Contents". They repeat what the headings say, and would be found in place of the sections. Takes one pass over the lines.
 */
export function contentsLines(lines: readonly string[]): Set<number> {
  const found = new Set<number>();
  const add = (from: number, to: number) => {
    for (let at = from; at <= to; at += 1) found.add(at);
    // The word above it.
    let above = from - 1;
    while (above >= 0 && (lines[above] ?? '').trim() === '') above -= 1;
    if (WORD.test(lines[above] ?? '')) found.add(above);
  };
  for (const { from, to, entries } of runs(lines, (line) => LEADER.test(line.slice(-LEADER_CHARS)))) {
    if (entries < MIN_ENTRIES) continue;
    // A chapter's own line often has its page without dots.
    const chapter = /^\S.*\s\d{1,5}$/u.test((lines[from - 1] ?? '').trim()) ? from - 1 : from;
    add(chapter, to);
  }
  for (const { from, to, entries } of runs(lines, (line) => TITLE_AND_PAGE.test(line))) {
    const pages = lines.slice(from, to + 1).flatMap((line) => TITLE_AND_PAGE.exec(line)?.[1] ?? []);
    if (entries >= MIN_PLAIN_ENTRIES && rise(pages.map(Number))) add(from, to);
  }
  for (const [at, line] of lines.entries()) {
    if (found.has(at) || !WORD.test(line)) continue;
    const to = numberedTitles(lines, at + 1);
    if (to !== undefined) add(at + 1, to);
  }
  return found;
}

/** Runs of lines that fit, with few others between them. Blank lines do not count. */
function* runs(lines: readonly string[], fits: (line: string) => boolean) {
  let run: { from: number; to: number; entries: number } | undefined;
  let between = 0;
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    if (fits(line)) {
      run = run ? { ...run, to: at, entries: run.entries + 1 } : { from: at, to: at, entries: 1 };
      between = 0;
    } else if (run && ++between > MAX_BETWEEN) {
      yield run;
      run = undefined;
    }
  }
  if (run) yield run;
}

function rise(pages: readonly number[]): boolean {
  return pages.every((page, at) => at === 0 || page >= (pages[at - 1] ?? 0)) && pages.at(0) !== pages.at(-1);
}

/** The last line of titles whose numbers rise, from a place on; undefined when they are few. Where they begin again, the text begins. */
function numberedTitles(lines: readonly string[], from: number): number | undefined {
  let [entries, last, between] = [0, -1, 0];
  let before: number[] = [];
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '') continue;
    const number = NUMBERED.exec(line)?.[1]?.split('.').map(Number);
    if (number && isAfter(number, before)) {
      [entries, last, between, before] = [entries + 1, at, 0, number];
      continue;
    }
    between += 1;
    if (number || between > MAX_BETWEEN) break;
  }
  return entries >= MIN_PLAIN_ENTRIES ? last : undefined;
}

function isAfter(number: readonly number[], before: readonly number[]): boolean {
  const differs = number.findIndex((part, at) => part !== (before[at] ?? -1));
  return differs >= 0 && (number[differs] ?? 0) > (before[differs] ?? -1);
}
