/**
 * What the exit code tells a script: 1 generic, 5xx and network; 2 usage and every 4xx without a code of its own; 3 404; 4 401, 403 and no
 * credential; 5 409 and conflicts of configuration; 6 changes are pending (`plan --exit-code`); 130 Ctrl-C.
 */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 6 | 130;

/** More about a failure; each may be left out. */
export interface FailureMore {
  /** What to do about it, one sentence. */
  hint?: string | undefined;
  status?: number | undefined;
  requestId?: string | undefined;
  details?: unknown;
  cause?: unknown;
}

/**
 * Why a command ended without success. Throw it from anywhere: `run` prints it for people, or with `--json` as
 * `{error: {code, message, hint, status, requestId, details}}`, and answers its exit code.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** Codes of the API are in upper case (`AGENT_NOT_FOUND`), those of this program in lower case (`no_tty`). */
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly details: unknown;

  constructor(code: string, exitCode: ExitCode, message: string, more: FailureMore = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.exitCode = exitCode;
    this.hint = more.hint;
    this.status = more.status;
    this.requestId = more.requestId;
    this.details = more.details;
  }
}

/** A wrong use of the command line (exit code 2). */
export function usage(message: string, hint?: string): Failure {
  return new Failure('usage', 2, message, { hint });
}

/** For `catch`: what the SDK refuses before it sends anything (TypeError) is a wrong use. */
export function asUsage(error: unknown): never {
  throw error instanceof TypeError ? usage(error.message) : error;
}

/** The exit code for the status of an error. An answer with a lower status than 400 is an error when it cannot be read. */
export function exitCodeOf(status: number): ExitCode {
  if (status >= 500 || status < 400) return 1;
  if (status === 404) return 3;
  if (status === 401 || status === 403) return 4;
  return status === 409 ? 5 : 2;
}

/** What to do about an error of the API, where there is something to say. */
export function hintFor(status: number, code: string): string | undefined {
  if (status === 401)
    return 'Check the key: guildhall auth whoami tells which one is used, guildhall auth login saves another.';
  if (status === 404 && code === 'NOT_FOUND')
    return 'The address of the service may be wrong: guildhall auth whoami tells which one is used.';
  if (status === 429 || status === 503) return 'Try again in a while.';
  return undefined;
}

/** Any thrown value as a failure. Errors of the SDK and of logins are known by their names, so that `--help` need not load them. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (!(error instanceof Error)) return new Failure('internal', 1, String(error));
  const fields = error as Error & { [name: string]: unknown };
  const message = error.message || error.name;
  if (error.name === 'LoginError')
    return new Failure(String(fields.code), fields.exitCode as ExitCode, message, { hint: fields.hint as string });
  if (error.name === 'GuildhallError' && typeof fields.status === 'number')
    return new Failure(String(fields.code), exitCodeOf(fields.status), message, {
      hint: hintFor(fields.status, String(fields.code)),
      status: fields.status,
      requestId: fields.requestId as string | undefined,
      details: fields.details,
    });
  if (error.name === 'ConnectionError')
    return new Failure('no_connection', 1, message, {
      hint: 'Is the service running there? guildhall auth whoami tells the address.',
      cause: error,
    });
  if (error.name === 'TimeoutError')
    return new Failure('timed_out', 1, message, { hint: '--timeout SECONDS sets how long to wait.', cause: error });
  if (fields.code === 'commander.help') return usage('One of its commands is missing.', 'Add --help to see them.');
  if (String(fields.code).startsWith('commander.'))
    return usage(message.replace(/^error: /, '').replaceAll('\n', ' '), 'Add --help to see how it is used.');
  return new Failure('internal', 1, message, { cause: error });
}

/** The failure as JSON, as `--json` prints it: every field is there. */
export function failureJson(failure: Failure): { error: Record<string, unknown> } {
  const { code, message, hint = null, status = null, requestId = null, details = null } = failure;
  return { error: { code, message, hint, status, requestId, details } };
}

/** The failure for people. */
export function failureText({ code, message, hint, status, requestId, details }: Failure): string {
  const lines = [`guildhall: ${message}${status === undefined ? '' : ` (${status} ${code})`}`];
  if (Array.isArray(details)) for (const each of details.slice(0, MAX_DETAILS)) lines.push(`  ${detailText(each)}`);
  if (hint) lines.push(hint);
  if (requestId) lines.push(`Request: ${requestId}`);
  return lines.join('\n');
}

/** A wrong body of thousands of items has as many details; the first ones tell enough. */
const MAX_DETAILS = 20;

function detailText(detail: unknown): string {
  const { path, message } = (detail ?? {}) as { path?: unknown; message?: unknown };
  return typeof message === 'string' ? `${path ? `${path}: ` : ''}${message}` : JSON.stringify(detail);
}
