/** What changes between two texts: the lines between their common beginning and end, `-` for the old ones and `+` for the new ones. */
export function lineDiff(before: string, after: string): string {
  const old = linesOf(before);
  const fresh = linesOf(after);
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const removed = old.slice(start, old.length - end).map((line) => `- ${line}`);
  const added = fresh.slice(start, fresh.length - end).map((line) => `+ ${line}`);
  return [`@@ line ${start + 1} @@`, ...removed, ...added].join('\n');
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}
