import pg from 'pg';
import { untilAborted } from '../../../core/deadline.ts';
import { ToolFailure } from '../failure.ts';
import { type DatabaseTarget, readConnection } from './connection.ts';
import { DatabaseSession } from './session.ts';
import { type BindableQuery, bindable, checkQuery } from './sql.ts';
import { TooMuchData } from './wire.ts';

export { checkConnection } from './connection.ts';
export { checkQuery, parameterNames } from './sql.ts';

/** One run of a DATABASE_QUERY tool. */
export interface DatabaseQueryRun {
  /** The address of the database, `postgres://…`. */
  connection: string;
  /** One SQL statement with parameters `:x`. */
  query: string;
  /** Further rows are cut off. */
  maxRows: number;
  /** For everything together: DNS, login, query and its rows. */
  timeoutSeconds: number;
  /** Values of the parameters by name; a missing one is null. */
  inputs: Readonly<Record<string, unknown>>;
  allowPrivateNetwork: boolean;
  /** The workspace that the tool is of. */
  workspaceId: string;
  signal?: AbortSignal | undefined;
}

/** The result of a query. */
export interface DatabaseQueryResult {
  rows: Record<string, unknown>[];
  /** Whether rows were cut off. */
  truncated: boolean;
}

/** Largest result in bytes of JSON; further rows are cut off. */
const MAX_RESULT_BYTES = 1024 * 1024;
/** Bytes that are read from a server in one call at most. PostgreSQL sends a row as a whole, whatever its size. */
const MAX_RECEIVED_BYTES = 16 * 1024 * 1024;
const MAX_MESSAGE = 500;
/** How much longer the server's time limit is than ours. It only matters when this process has stopped. */
const GRACE_MS = 1000;
const DECLARE = 'declare guildhall no scroll cursor for ';

/**
 * The first statements of a session. `begin read only` cannot be undone once the select has taken a snapshot. All settings end
 * with the transaction. A setting that the server or its pooler does not know is skipped, and a lower time limit of the
 * database's owner stays. `client_connection_check_interval` ends a query that survives the cancel request.
 */
function opening(timeoutMs: number): string {
  const settings = {
    statement_timeout: timeoutMs + GRACE_MS,
    idle_in_transaction_session_timeout: timeoutMs + GRACE_MS,
    client_connection_check_interval: 1000,
    standard_conforming_strings: 'on',
    DateStyle: 'ISO',
    IntervalStyle: 'iso_8601',
    bytea_output: 'hex',
    extra_float_digits: 1,
  };
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  return `begin read only;
    select pg_catalog.set_config(s.name, case when s.name = 'statement_timeout' and s.setting::int8 between 1 and ${timeoutMs} then s.setting else w.value end, true)
      from pg_catalog.pg_settings s join (values ${values.join(', ')}) w (name, value) on w.name = s.name`;
}

/**
 * Runs a query on a tenant's PostgreSQL and returns its rows as JSON: `numeric` and whole numbers beyond 2^53 as text, `bytea` in
 * Base64, times in RFC 3339. The query can only read: it runs as a cursor, which accepts nothing but a query, in a read-only
 * transaction of a session of its own, with bound parameters. At the time limit, or when `signal` is aborted, it is cancelled on
 * the server. Rights of the login that do not write through the transaction, such as ending other sessions, still apply.
 * @throws {ToolFailure} the query is not valid, the database cannot be reached or it returns an error; the signal's own reason
 *   when that ended the call
 */
export async function runDatabaseQuery(run: DatabaseQueryRun): Promise<DatabaseQueryResult> {
  run.signal?.throwIfAborted();
  const problem = checkQuery(run.query);
  if (problem !== undefined) throw new ToolFailure(problem);
  const target = readConnection(run.connection);
  if (typeof target === 'string') throw new ToolFailure(target);
  const query = bindable(run.query);

  const clock = new AbortController();
  const timeoutMs = run.timeoutSeconds * 1000;
  const timedOut = new ToolFailure(`The query was cancelled: it took longer than ${run.timeoutSeconds} s.`);
  const timer = setTimeout(() => clock.abort(timedOut), timeoutMs);
  const signal = run.signal ? AbortSignal.any([clock.signal, run.signal]) : clock.signal;
  try {
    const { allowPrivateNetwork, workspaceId } = run;
    const limits = { allowPrivateNetwork, workspaceId, maxBytes: MAX_RECEIVED_BYTES, signal };
    const session = await DatabaseSession.open(target, limits);
    try {
      return await untilAborted(readRows(session, query, run, timeoutMs), signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : queryFailure(error, run.query, query, target);
    } finally {
      await session.close();
    }
  } finally {
    clearTimeout(timer);
  }
}

async function readRows(
  session: DatabaseSession,
  query: BindableQuery,
  { inputs, maxRows }: DatabaseQueryRun,
  timeoutMs: number,
): Promise<DatabaseQueryResult> {
  await session.command(opening(timeoutMs));
  const values = query.names.map((name) => (Object.hasOwn(inputs, name) ? inputs[name] : null));
  await session.execute(DECLARE + query.text, values);
  const rows: Record<string, unknown>[] = [];
  let size = 0;
  let truncated = false;
  try {
    await session.rows(`fetch forward ${maxRows + 1} from guildhall`, (row) => {
      size += Buffer.byteLength(JSON.stringify(row)) + 1;
      truncated = size > MAX_RESULT_BYTES || rows.length === maxRows;
      if (!truncated) rows.push(row);
      return !truncated;
    });
  } catch (error) {
    if (!(error instanceof TooMuchData)) throw error;
    truncated = true;
  }
  if (truncated && rows.length === 0) {
    throw new ToolFailure(`The first row alone is larger than ${MAX_RESULT_BYTES} bytes: select less.`);
  }
  return { rows, truncated };
}

/** The server's error message with the place in the query, without the secrets of the connection. */
function queryFailure(error: unknown, written: string, query: BindableQuery, target: DatabaseTarget): unknown {
  if (error instanceof ToolFailure) return error;
  if (!(error instanceof pg.DatabaseError)) {
    return new ToolFailure('The connection to the database broke before the rows were complete.', { cause: error });
  }
  let message = error.message.replace(/^DECLARE CURSOR must not/, 'The query must not');
  for (const secret of [target.password, target.host]) {
    if (secret.length >= 3) message = message.replaceAll(secret, '********');
  }
  message = message.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, MAX_MESSAGE);
  return new ToolFailure(`${message}${placeNote(Number(error.position), written, query)}`, { cause: error });
}

/** ` (line 2, column 8)` for the server's position, which counts characters from 1; '' when it gives none. */
function placeNote(position: number, written: string, query: BindableQuery): string {
  const place = [...(DECLARE + query.text)].slice(0, position - 1).join('').length - DECLARE.length;
  if (!(position > 0) || place < 0) return '';
  const before = written.slice(0, query.placeOf(place)).split('\n');
  return ` (line ${before.length}, column ${[...(before.at(-1) ?? '')].length + 1})`;
}
