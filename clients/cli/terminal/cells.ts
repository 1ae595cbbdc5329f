import stringWidth from 'string-width';

const segmenter = new Intl.Segmenter();

/** The text cut to so many cells, with `…` in place of what is left out. Counts what a terminal draws: 漢 has two cells, é has one. */
export function cutText(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const cells = stringWidth(segment);
    if (used + cells > width - 1) break;
    kept += segment;
    used += cells;
  }
  return `${kept}…`;
}
