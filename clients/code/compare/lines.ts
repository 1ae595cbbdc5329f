/** One line of a comparison of two texts. `gap` stands for equal lines that are left out. */
export type LineDifference = { sign: '+' | '-' | ' '; text: string } | { sign: 'gap'; count: number };

/** Equal lines shown around a difference. */
const CONTEXT_LINES = 2;

/** The table of the comparison has a place for each pair of lines: larger parts are shown as removed and added whole. */
const MAX_TABLE = 4_000_000;

/** The differences of two texts line by line, with a few equal lines around each. The work is bounded whatever the texts. */
export function lineDifferences(before: string, after: string): LineDifference[] {
  const [from, to] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const middle = changedLines(from.slice(start, from.length - end), to.slice(start, to.length - end));
  const all = [
    ...from.slice(0, start).map((text) => ({ sign: ' ' as const, text })),
    ...middle,
    ...from.slice(from.length - end).map((text) => ({ sign: ' ' as const, text })),
  ];
  return withGaps(all);
}

type Line = { sign: '+' | '-' | ' '; text: string };

function changedLines(from: string[], to: string[]): Line[] {
  const removed = from.map((text) => ({ sign: '-' as const, text }));
  const added = to.map((text) => ({ sign: '+' as const, text }));
  if (from.length * to.length > MAX_TABLE) return [...removed, ...added];
  const width = to.length + 1;
  // The longest common part of what follows each pair of lines.
  const common = new Uint32Array((from.length + 1) * width);
  const at = (line: number, column: number) => common[line * width + column] as number;
  for (let line = from.length - 1; line >= 0; line--)
    for (let column = to.length - 1; column >= 0; column--)
      common[line * width + column] =
        from[line] === to[column] ? at(line + 1, column + 1) + 1 : Math.max(at(line + 1, column), at(line, column + 1));
  const lines: Line[] = [];
  let [line, column] = [0, 0];
  while (line < from.length || column < to.length) {
    if (line < from.length && column < to.length && from[line] === to[column]) {
      lines.push({ sign: ' ', text: from[line] as string });
      line++;
      column++;
    } else if (line < from.length && (column === to.length || at(line + 1, column) >= at(line, column + 1))) {
      lines.push(removed[line++] as Line);
    } else lines.push(added[column++] as Line);
  }
  return lines;
}

function withGaps(lines: Line[]): LineDifference[] {
  const near = new Uint8Array(lines.length);
  for (const [index, { sign }] of lines.entries())
    if (sign !== ' ') near.fill(1, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
  const result: LineDifference[] = [];
  for (const [index, line] of lines.entries()) {
    const last = result.at(-1);
    if (near[index]) result.push(line);
    else if (last?.sign === 'gap') last.count++;
    else result.push({ sign: 'gap', count: 1 });
  }
  return result;
}
