import pg from 'pg';
import { type CheckedLookup, resolveChecked } from '../../../core/outgoing/address.ts';
import { systemNames } from '../../../core/outgoing/names.ts';
import { OutgoingFailed, OutgoingRefused } from '../../../core/outgoing.ts';
import { ToolFailure } from '../failure.ts';
import type { DatabaseTarget } from './connection.ts';
import { type Column, rowReader } from './values.ts';
import { DriverStream, openWire, sendCancel, TooMuchData, type Wire } from './wire.ts';

/** Milliseconds to deliver a cancel request. */
const CANCEL_TIMEOUT_MS = 2000;

/** Returns every value as PostgreSQL's text; `rowReader` converts it by its type. */
const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: (() => String) as typeof pg.types.getTypeParser };

/** Properties of the driver's client that its types do not declare. */
interface ClientInternals {
  processID: number | null;
  secretKey: number | null;
  connectionParameters: { options?: string | undefined; replication?: string; client_encoding?: string };
}

/** A session on a tenant's database, for one call. */
export class DatabaseSession {
  readonly #client: pg.Client & ClientInternals;
  readonly #wire: Wire;
  readonly #target: DatabaseTarget;
  #running = false;

  private constructor(client: pg.Client, wire: Wire, target: DatabaseTarget) {
    this.#client = client as pg.Client & ClientInternals;
    this.#wire = wire;
    this.#target = target;
  }

  /**
   * Logs in. Every address of the host is checked, and only checked addresses are connected to. Reads at most `maxBytes` from the
   * server. Throws ToolFailure, whose message repeats nothing of the connection, or the signal's reason.
   */
  static async open(
    target: DatabaseTarget,
    { maxBytes, ...lookup }: CheckedLookup & { maxBytes: number },
  ): Promise<DatabaseSession> {
    const { signal } = lookup;
    let wire: Wire | undefined;
    const giveUp = () => wire?.destroy();
    try {
      const addresses = await resolveChecked(target.host, lookup, systemNames.lookup);
      wire = await openWire(target, addresses, signal);
      signal.addEventListener('abort', giveUp);
      const client = driverClient(target, new DriverStream(wire, maxBytes));
      await client.connect();
      signal.throwIfAborted();
      return new DatabaseSession(client, wire, target);
    } catch (error) {
      giveUp();
      signal.throwIfAborted();
      throw openingFailure(error);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Runs statements of our own, without parameters, in one message. */
  async command(text: string): Promise<void> {
    await this.#whileRunning(this.#client.query(text));
  }

  /** Runs one statement with parameters by the extended protocol, which takes no second statement. */
  async execute(text: string, values: readonly unknown[]): Promise<void> {
    await this.#whileRunning(this.#client.query(asExtended(text, values)));
  }

  /**
   * Runs one statement and passes each row to `onRow` as a JSON object when it arrives. When `onRow` returns false, resolves at
   * once and leaves the statement running.
   */
  async rows(text: string, onRow: (row: Record<string, unknown>) => boolean): Promise<void> {
    this.#running = true;
    const query = new pg.Query<unknown[], unknown[]>(asExtended(text, []));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let read: ReturnType<typeof rowReader> | undefined;
    query.on('row', (values, result) => {
      if (read === undefined) {
        const columns: Column[] = (result?.fields ?? []).map(({ name, dataTypeID }) => ({ name, typeId: dataTypeID }));
        read = rowReader(columns);
      }
      if (!onRow(read(values as (string | null)[]))) resolve();
    });
    query.on('end', () => {
      this.#running = false;
      resolve();
    });
    query.on('error', (error) => {
      this.#running = false;
      reject(error);
    });
    this.#client.query(query);
    await promise;
  }

  /** Notes that a statement runs until it succeeds or fails. One that does neither is cancelled when the session closes. */
  async #whileRunning(statement: Promise<unknown>): Promise<void> {
    this.#running = true;
    try {
      await statement;
    } finally {
      this.#running = false;
    }
  }

  /** Ends the session and cancels what still runs in it on the server. */
  async close(): Promise<void> {
    const { processID, secretKey } = this.#client;
    const { remoteAddress, destroyed } = this.#wire;
    const cancel = this.#running && processID !== null && secretKey !== null && remoteAddress !== undefined;
    if (!cancel) {
      if (!destroyed) void this.#client.end().catch(() => {});
      this.#wire.destroySoon();
      return;
    }
    const timeout = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
    try {
      const address = { address: remoteAddress, family: remoteAddress.includes(':') ? 6 : 4 };
      const wire = await openWire(this.#target, [address], timeout);
      await sendCancel(wire, { processId: processID, secretKey }, timeout);
    } catch {
      // The server notices the lost connection by itself: client_connection_check_interval.
    } finally {
      this.#wire.destroy();
    }
  }
}

function asExtended(text: string, values: readonly unknown[]) {
  return { text, values: [...values], rowMode: 'array' as const, queryMode: 'extended' as const, types: AS_TEXT };
}

function driverClient(target: DatabaseTarget, stream: DriverStream): pg.Client {
  const client = new pg.Client({
    host: target.host,
    port: target.port,
    user: target.user,
    database: target.database,
    // A function, because without a password the driver would use PGPASSWORD or the operator's password file.
    password: () => target.password,
    application_name: target.applicationName,
    ssl: false,
    enableChannelBinding: target.channelBinding,
    stream: () => stream,
  });
  // The driver takes these from variables such as PGOPTIONS, which are the operator's.
  Object.assign((client as pg.Client & ClientInternals).connectionParameters, {
    options: target.options,
    replication: undefined,
    client_encoding: 'utf8',
  });
  // An error while a statement runs rejects that statement too; without a listener it would end the process.
  client.on('error', () => {});
  if (target.channelBinding) requireChannelBinding(client, stream);
  return client;
}

/** Ends the connection before the password, or a proof that also works on another connection, is sent. */
function requireChannelBinding(client: pg.Client, stream: DriverStream): void {
  const refuse = () => stream.destroy(new ToolFailure('The database does not offer channel binding.'));
  let bound = false;
  client.connection.on('authenticationCleartextPassword', refuse);
  client.connection.on('authenticationMD5Password', refuse);
  client.connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: string[] }) => {
    bound = mechanisms.includes('SCRAM-SHA-256-PLUS') && stream.getPeerCertificate !== undefined;
    if (!bound) refuse();
  });
  client.connection.on('authenticationOk', () => {
    if (!bound) refuse();
  });
}

/** Why there is no session. The message names neither host nor user. */
function openingFailure(error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  return new ToolFailure(openingMessage(error, code), { cause: error });
}

function openingMessage(error: unknown, code: string): string {
  if (error instanceof OutgoingRefused) {
    return 'The host of the connection does not lead to an address that this service may call. Use a public address.';
  }
  if (error instanceof TooMuchData) return 'The server of the connection does not answer as PostgreSQL does.';
  if (error instanceof pg.DatabaseError && /^[0-9A-Z]{5}$/.test(code)) {
    if (code.startsWith('28')) return 'The database refused the login.';
    if (code === '3D000') return 'The server has no database of the name that the connection gives.';
    if (code === '53300' || code === '57P03') return 'The database takes no connections at the moment.';
    return `The database refused the connection (SQLSTATE ${code}).`;
  }
  switch (code) {
    case 'ECONNREFUSED':
      return 'The server of the connection refused it.';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'EADDRNOTAVAIL':
      return 'The server of the connection cannot be reached.';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'The server of the connection closed it.';
    default:
  }
  if (/^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/.test(code)) {
    return `No secure connection to the database could be made (${code}).`;
  }
  if (error instanceof OutgoingFailed && error.reason === 'dns')
    return 'The host of the connection could not be resolved.';
  const message = Error.isError(error) ? error.message : '';
  if (message.startsWith('SASL')) return 'The login to the database failed: check the password of the connection.';
  if (message.startsWith('Connection terminated')) return 'The server of the connection closed it.';
  return 'The server of the connection does not answer as PostgreSQL does.';
}
