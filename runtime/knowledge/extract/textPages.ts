import { goesOn } from './lineEnds.ts';
import type { Line } from './pdfLayout.ts';
import { runningLines } from './runningLines.ts';

/** With fewer pages nothing can be told to repeat. */
const MIN_PAGES = 4;
/** The foot of a page, as requests for comments have it. */
const FOOT = /\[Page[ \t]+(?:\d{1,5}|[ivxlc]{1,8})\][ \t]*$/imu;
const FEEDS = /\r?\n?\f/;
const AFTER_FOOT = /(?<=\[Page[ \t]+(?:\d{1,5}|[ivxlc]{1,8})\][ \t]*)\r?\n/iu;

/**
 * A text that was set in pages, without their heads and feet. A paragraph that ends in the middle of a sentence goes on on the next page.
 * Any other text is returned as it is.
 */
export function withoutPageEdges(text: string): string {
  const parts = text.split(FEEDS);
  const pages = parts.length >= MIN_PAGES || !FOOT.test(text) ? parts : text.split(AFTER_FOOT);
  if (pages.length < MIN_PAGES) return text;
  const read = pages.map((page) =>
    page
      .split(/\r\n?|\n/)
      .map((line, at): Line => ({ text: line.trim(), size: 1, y: -at }))
      .filter((line) => line.text !== ''),
  );
  const running = runningLines(read, () => false);
  let whole = '';
  let last = '';
  for (const [place, page] of pages.entries()) {
    const dropped = new Set((read[place] ?? []).flatMap((line) => (running.has(line) ? [-line.y] : [])));
    const kept = page.split(/\r\n?|\n/).filter((_, at) => !dropped.has(at));
    const lines = kept.slice(
      kept.findIndex((line) => line.trim() !== ''),
      kept.findLastIndex((line) => line.trim() !== '') + 1,
    );
    if (lines.length === 0 || kept.every((line) => line.trim() === '')) continue;
    if (whole !== '') whole += goesOn(last, lines[0]?.trim() ?? '') ? '\n' : '\n\n';
    whole += lines.join('\n');
    last = lines.at(-1)?.trim() ?? '';
  }
  return whole.trim() === '' ? text : whole;
}
