import { createHash } from 'node:crypto';
import type { PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { type LeadingStatement, PipelinedStatement, type StatementResult } from './statement.ts';

/** SQLSTATE of a prepared statement whose result changed under it (after a migration), of one that is gone, and of one that is there already. */
const STALE_STATEMENT = new Set(['0A000', '26000', '42P05']);
/** Of these the last two mean that something between this process and the server hands prepared statements around. */
const LOST_STATEMENT = new Set(['26000', '42P05']);
const PREPARABLE = /^\s*(select|insert|update|delete|with)\b/i;
const MAX_REMEMBERED = 2000;
const MAX_PREPARED_PER_CLIENT = 250;

/**
 * Names of the statements that are prepared: those that this process sends a second time. All pools of a process share them. A name
 * is computed from the text: behind a pooler several processes share a connection, and one name must never stand for two texts.
 */
class StatementNames {
  readonly #names = new Map<string, string>();

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) {
      if (known !== '') return known;
      const name = nameOf(text);
      this.#names.set(text, name);
      return name;
    }
    if (!PREPARABLE.test(text)) return undefined;
    if (this.#names.size >= MAX_REMEMBERED) {
      for (const oldest of this.#names.keys()) {
        this.#names.delete(oldest);
        break;
      }
    }
    this.#names.set(text, '');
    return undefined;
  }
}

function nameOf(text: string): string {
  return `g${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`;
}

const statementNames = new StatementNames();

const SETTINGS =
  "select set_config('role', $1, true), set_config('app.workspace_id', $2, true), set_config('statement_timeout', $3, true)";
const SETTINGS_NAME = nameOf(SETTINGS);
const BEGIN = /^(begin|start transaction)\b/;
const BEGIN_BLOCK: LeadingStatement = { text: 'begin', values: [] };
const COMMIT_BLOCK: LeadingStatement = { text: 'commit', values: [] };
const IDLE_LIMIT: LeadingStatement = { text: 'set local idle_in_transaction_session_timeout = 60000', values: [] };

/** What all sessions of a pool have in common. */
export interface SessionSettings {
  /** The role as which every statement runs. */
  role: string;
  /** Milliseconds after which the server cancels a statement. */
  statementTimeoutMs: number;
  /** Whether repeated statements are prepared on the server. Turned off when it shows that prepared statements get lost. */
  prepare: boolean;
  /**
   * Whether the settings are sent as `set local` within a transaction block, which a coordinator of Citus passes on to its workers. It does
   * not pass on `set_config`, which is one statement and cheaper.
   */
  passedOn: boolean;
  /** Gets every error of a statement. */
  onError?: ((error: unknown) => void) | undefined;
  /** Called once when prepared statements get lost. */
  onPreparedLost?: (() => void) | undefined;
}

/** The settings of one workspace's transactions ('' = no workspace). Sessions share it: its messages are written once. */
export class WorkspaceSettings {
  readonly #settings: SessionSettings;
  readonly #unnamed: LeadingStatement;
  readonly #named: LeadingStatement;
  readonly #local: readonly LeadingStatement[];

  constructor(settings: SessionSettings, workspaceId: string, statementTimeoutMs: number) {
    const returns = [settings.role, workspaceId];
    this.#settings = settings;
    this.#unnamed = { text: SETTINGS, values: [...returns, String(statementTimeoutMs)], returns };
    this.#named = { ...this.#unnamed, name: SETTINGS_NAME };
    this.#local = [
      `set local role ${settings.role}`,
      `set local app.workspace_id = ${pg.escapeLiteral(workspaceId)}`,
      `set local statement_timeout = ${statementTimeoutMs}`,
    ].map((text) => ({ text, values: [] }));
  }

  /** The statement that makes them hold until the end of the transaction. */
  step(): LeadingStatement {
    return this.#settings.prepare ? this.#named : this.#unnamed;
  }

  /** What makes them hold until the end of the transaction: one statement, or those that are passed on to workers. */
  steps(): readonly LeadingStatement[] {
    return this.#settings.passedOn ? this.#local : [this.step()];
  }
}

/**
 * One connection as Kysely sees it. Role, workspace and time limit are set within each transaction, in the same round trip as its
 * first statement, and end with it. So nothing depends on what a connection was used for before, or on which server connection a
 * pooler takes for the transaction. `begin` waits for the first statement, too.
 */
export class Session implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #settings: SessionSettings;
  readonly #prepared = new Set<string>();
  #workspace: WorkspaceSettings | undefined;
  /** Text of a `begin` that is not sent yet; '' = it is sent. */
  #begin: string | undefined;
  #discard = false;

  constructor(client: pg.PoolClient, settings: SessionSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  get processID(): number {
    return (this.#client as unknown as { processID: number }).processID;
  }

  /** Makes the next transactions those of `workspace`. On a new connection it prepares the statement that sets it. */
  async serve(workspace: WorkspaceSettings): Promise<void> {
    this.#begin = undefined;
    if (this.#settings.prepare && !this.#settings.passedOn && !this.#prepared.has(SETTINGS_NAME)) {
      const { text, values } = workspace.step();
      try {
        await this.#client.query({ name: SETTINGS_NAME, text, values });
        this.#prepared.add(SETTINGS_NAME);
      } catch (error) {
        if (!isLostStatement(error)) throw error;
        this.#preparedLost();
      }
    }
    this.#workspace = workspace;
  }

  query<R>(sql: string, parameters: ReadonlyArray<unknown>): Promise<PostgresQueryResult<R>>;
  query(cursor: never): never;
  async query<R>(sql: string, parameters: ReadonlyArray<unknown> = []): Promise<PostgresQueryResult<R>> {
    return (await (this.#control(sql) ?? this.#run(sql, parameters as unknown[]))) as unknown as PostgresQueryResult<R>;
  }

  /** The result of a statement that begins a transaction, or ends one of which nothing was sent: these wait, or are not needed. */
  #control(sql: string): StatementResult | undefined {
    if (this.#begin === undefined && BEGIN.test(sql)) {
      this.#begin = sql;
      return { command: 'BEGIN', rowCount: null, rows: [] };
    }
    if (sql !== 'commit' && sql !== 'rollback') return undefined;
    const unsent = this.#begin;
    if (!unsent) return undefined;
    this.#begin = undefined;
    return { command: sql.toUpperCase(), rowCount: null, rows: [] };
  }

  async #run(sql: string, values: unknown[]): Promise<StatementResult> {
    const name = this.#settings.prepare ? this.#nameOf(sql) : undefined;
    const inBlock = this.#begin !== undefined;
    try {
      return await this.#send({ text: sql, values, ...(name !== undefined && { name }) });
    } catch (error) {
      this.#settings.onError?.(error);
      if (this.#settings.passedOn && !inBlock) await this.#endOwnBlock();
      if (isLastWord(error)) this.#discard = true;
      if (!isStaleStatement(error)) throw error;
      this.#discard = true;
      if (isLostStatement(error)) this.#preparedLost();
      if (inBlock) throw error;
      return await this.#send({ text: sql, values });
    } finally {
      if (sql === 'commit' || sql === 'rollback') this.#begin = undefined;
    }
  }

  #send(query: pg.QueryConfig): Promise<StatementResult> {
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult>();
    const statement = new PipelinedStatement(query, this.#takeAround(), (error, result) =>
      error ? reject(error) : resolve(result),
    );
    this.#client.query(statement);
    return promise;
  }

  /** What must be sent with the next statement: nothing within a transaction that has begun. */
  #takeAround(): { ahead: readonly LeadingStatement[]; after?: readonly LeadingStatement[] } {
    if (this.#begin === '') return { ahead: [] };
    if (!this.#workspace) throw new Error('The connection serves no workspace yet');
    const settings = this.#workspace.steps();
    if (this.#begin !== undefined) {
      const text = this.#begin;
      this.#begin = '';
      return { ahead: [{ text, values: [] }, ...settings, IDLE_LIMIT] };
    }
    if (!this.#settings.passedOn) return { ahead: settings };
    return { ahead: [BEGIN_BLOCK, ...settings], after: [COMMIT_BLOCK] };
  }

  /** Ends the block that was sent around a statement which failed: the commit behind it was skipped. */
  async #endOwnBlock(): Promise<void> {
    await this.#client.query('rollback').catch(() => {
      this.#discard = true;
    });
  }

  #preparedLost(): void {
    if (!this.#settings.prepare) return;
    this.#settings.prepare = false;
    this.#settings.onPreparedLost?.();
  }

  /** Hands the connection back; one that is broken, stale or still inside a transaction is closed instead. */
  release(destroy?: boolean): void {
    const status = this.#client.getTransactionStatus();
    this.#client.release(destroy === true || this.#discard || (status !== 'I' && status !== null));
  }

  #nameOf(sql: string): string | undefined {
    const name = statementNames.of(sql);
    if (name === undefined || this.#prepared.has(name)) return name;
    if (this.#prepared.size >= MAX_PREPARED_PER_CLIENT) return undefined;
    this.#prepared.add(name);
    return name;
  }
}

/**
 * Whether the connection ends with this error: the server announces that it closes the connection, or the driver reports that it is
 * closed (errors of the driver have no SQLSTATE). The socket closes a moment later, and until then the pool would hand it out.
 */
function isLastWord(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code;
  return code === undefined || /^(57P0\d|08...|25P0[34])$/.test(code);
}

/** Whether a prepared statement no longer fits the schema; the same statement on a fresh connection works. */
export function isStaleStatement(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code;
  return (
    code !== undefined &&
    STALE_STATEMENT.has(code) &&
    (code !== '0A000' || /cached plan/.test((error as Error).message))
  );
}

function isLostStatement(error: unknown): boolean {
  return LOST_STATEMENT.has((error as { code?: string } | null)?.code ?? '');
}
