import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import type { GuideResult } from '../guide/file.ts';
import { plainText } from '../terminal/plain.ts';
import type { EntryOutcome, EntryResult } from './clientEntry.ts';
import type { Target } from './targets.ts';

/** What became of one client's file and of its guide, as it is printed. */
export interface Row {
  client: string;
  result: EntryResult;
  guide: GuideResult | null;
  path: string;
  guidePath: string | null;
  message: string;
  /** Nothing was written: this is what would be done. */
  dryRun?: true;
  /** The lines that would change. */
  change?: string;
}

/** One row for people and machines. */
export function rowOf(
  target: Target,
  path: string,
  { result, message, change }: EntryOutcome,
  guide: { path: string; result: GuideResult } | undefined,
  dry: boolean,
): Row {
  const row: Row = {
    client: target.id,
    result,
    guide: guide?.result ?? null,
    path,
    guidePath: guide?.path ?? null,
    message,
  };
  return { ...row, ...(dry && { dryRun: true as const }), ...(change !== undefined && { change }) };
}

/** Why the command fails: the first file that could not be changed, a conflict (5) before a refusal of the system (1), and a guide last. */
export function failureOf(rows: Row[]): Failure | undefined {
  const codes: Partial<Record<EntryResult, [code: string, exitCode: 1 | 5]>> = {
    conflict: ['entry_conflict', 5],
    unreadable: ['unreadable_config', 5],
    failed: ['cannot_write', 1],
  };
  const found = rows.find(({ result }) => codes[result]?.[1] === 5) ?? rows.find(({ result }) => codes[result]);
  const [code, exitCode] = (found && codes[found.result]) ?? [];
  if (found && code && exitCode) return new Failure(code, exitCode, found.message);
  const guide = rows.find((row) => row.guide === 'failed');
  return guide && new Failure('cannot_write', 1, `The guide ${guide.guidePath} cannot be written or removed.`);
}

/** Says which guides were left as they are. */
export function guideRemarks(context: Context, rows: Row[]): void {
  for (const path of new Set(rows.filter(({ guide }) => guide === 'kept').map(({ guidePath }) => guidePath)))
    context.say(`The guide ${path} was changed since it was written, so it stays as it is.`);
}

/**
 * Prints what was done or found: to people the lines, whole, since what to do stands at their end; to machines the rows. After a failure people
 * see the lines and then why; with `--json` the rows are the details of the error, so that stdout stays one value.
 */
export async function report(context: Context, rows: object[], lines: string[][], failure?: Failure): Promise<void> {
  if (failure && context.flags.json) {
    const { code, exitCode, message, hint } = failure;
    throw new Failure(code, exitCode, message, { hint, details: rows });
  }
  if (context.isForPeople) await context.write(plainText(aligned(lines)));
  else await context.print(rows);
  if (failure) throw failure;
}

/** Lines whose cells stand below each other. The last cell of a line is not filled up. */
function aligned(lines: string[][]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length))) ?? [];
  const filled = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${filled.join('\n')}\n`;
}

/** What became of each client, for people. */
export function rowLines(rows: Row[]): string[][] {
  return rows.flatMap(({ client, result, guide, path, guidePath, message }) => [
    [client, result, path],
    ...(guide && guidePath ? [['', 'guide', `${guide}: ${guidePath}`]] : []),
    ...(message ? [['', '', message]] : []),
  ]);
}
