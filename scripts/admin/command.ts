import type { ParseArgsOptionsConfig } from 'node:util';
import { ApiError } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { Database } from '../../db/connect.ts';

/** What a command prints: `json` on one line with `--json`, or else `text` for people. */
export type Output = { json: unknown; text: string };

/** What a command prints that may be too much to keep in memory. It is read while the database is open. */
export type LongOutput = { lines: AsyncIterable<string> };

/** The options of a command line, as `parseArgs` gives them. */
export type Options = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** One verb of a noun. */
export type Command = {
  /** The arguments and options, as the help prints them after noun and verb. */
  usage: string;
  /** The number of arguments besides the options. */
  words: number;
  options: ParseArgsOptionsConfig;
  /** Checks the arguments and options. Returns the function that does the work. Throws UsageError. */
  prepare(
    words: string[],
    options: Options,
  ): (database: Database, env: NodeJS.ProcessEnv) => Promise<Output | LongOutput>;
};

/** The command line is wrong: exit code 2 and the usage. */
export class UsageError extends Error {
  readonly noun: string | undefined;

  constructor(message: string, noun?: string) {
    super(message);
    this.noun = noun;
  }
}

/** The command line is right, but the command fails: exit code 1. */
export class CommandError extends Error {}

/** The result of work on the rules of the API; what they refuse is a CommandError with their message. */
export async function refusing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ApiError ? new CommandError(error.message) : error;
  }
}

/** An option or argument that must be a UUID. */
export function uuid(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new UsageError(`${name} is missing`);
  if (!isUuid(value)) throw new UsageError(`${name} must be a UUID`);
  return value;
}

/** As `uuid`, or undefined when the option is absent. */
export function optionalUuid(value: unknown, name: string): string | undefined {
  return value === undefined ? undefined : uuid(value, name);
}

/** A text of 1 to `max` characters; `fallback` is used when it is absent. */
export function text(value: unknown, name: string, max: number, fallback?: string): string {
  const given = value ?? fallback;
  if (typeof given !== 'string') throw new UsageError(`${name} is missing`);
  if (given.trim() === '' || [...given].length > max) throw new UsageError(`${name} must have 1 to ${max} characters`);
  return given;
}

/** A number within bounds, or undefined when the option is absent. */
export function number(
  value: unknown,
  name: string,
  bounds: { min: number; max: number; integer?: boolean },
): number | undefined {
  if (value === undefined) return undefined;
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  const fits = parsed >= bounds.min && parsed <= bounds.max && (!bounds.integer || Number.isInteger(parsed));
  if (!fits)
    throw new UsageError(
      `${name} must be ${bounds.integer ? 'a whole number' : 'a number'} from ${bounds.min} to ${bounds.max}`,
    );
  return parsed;
}

/** As `number`, for a required option. */
export function requiredNumber(value: unknown, name: string, bounds: Parameters<typeof number>[2]): number {
  const parsed = number(value, name, bounds);
  if (parsed === undefined) throw new UsageError(`${name} is missing`);
  return parsed;
}

/** Who decides on calls that wait for an approval: `user`, `operator`, or null for `default`; undefined when the option is absent. */
export function approvalsBy(value: unknown): 'user' | 'operator' | null | undefined {
  if (value === undefined) return undefined;
  if (value === 'default') return null;
  if (value === 'user' || value === 'operator') return value;
  throw new UsageError('--approvals-by must be user, operator or default');
}

/** Rows as lines with aligned columns. */
export function table(headers: string[], rows: string[][]): string {
  if (rows.length === 0) return 'none';
  const widths = headers.map((header, column) =>
    Math.max(header.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [headers, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Largest value of PostgreSQL's `int`. */
export const INT32_MAX = 2_147_483_647;
