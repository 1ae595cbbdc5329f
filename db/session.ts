import type { PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type pg from 'pg';

/** SQLSTATE of a prepared statement whose result changed under it (after a migration), and of one that is gone. */
const STALE_STATEMENT = new Set(['0A000', '26000']);
const PREPARABLE = /^\s*(select|insert|update|delete|with)\b/i;
const MAX_REMEMBERED = 2000;
const MAX_PREPARED_PER_CLIENT = 250;

/**
 * Names of the statements that are prepared: those that this process sends a second time. All pools of a process share them.
 * A statement that was not sent for long is forgotten, and its name is never used again.
 */
class StatementNames {
  readonly #names = new Map<string, string>();
  #next = 1;

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) {
      if (known !== '') return known;
      const name = `g${this.#next++}`;
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

const statementNames = new StatementNames();

/**
 * One connection as Kysely sees it. It remembers which workspace the connection serves, so that a connection which served the
 * same one before costs no extra round trip, and prepares repeated statements on the server.
 */
export class Session implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #role: string;
  readonly #prepare: boolean;
  readonly #prepared = new Set<string>();
  #workspaceId: string | undefined;
  #discard = false;

  constructor(client: pg.PoolClient, role: string, prepare: boolean) {
    this.#client = client;
    this.#role = role;
    this.#prepare = prepare;
  }

  get processID(): number {
    return (this.#client as unknown as { processID: number }).processID;
  }

  /**
   * Sets `app.workspace_id` of the connection to this workspace ('' = none). The first time it also checks that the connection
   * runs as the right role: a pooler may drop the start-up option that sets it, and the owner sees every row.
   */
  async serve(workspaceId: string): Promise<void> {
    if (this.#workspaceId === workspaceId) return;
    const first = this.#workspaceId === undefined;
    this.#workspaceId = undefined;
    const text = "select set_config('app.workspace_id', $1, false), current_user as role";
    const { rows } = await this.#client.query<{ role: string }>(text, [workspaceId]);
    if (first && rows[0]?.role !== this.#role) {
      this.#discard = true;
      throw new Error(
        `The connection runs as ${rows[0]?.role} and not as ${this.#role}: connect without a pooler that drops "options"`,
      );
    }
    this.#workspaceId = workspaceId;
  }

  query<R>(sql: string, parameters: ReadonlyArray<unknown>): Promise<PostgresQueryResult<R>>;
  query(cursor: never): never;
  async query<R>(sql: string, parameters?: ReadonlyArray<unknown>): Promise<PostgresQueryResult<R>> {
    const values = parameters as unknown[];
    const name = this.#prepare ? this.#nameOf(sql) : undefined;
    try {
      const query = name === undefined ? { text: sql, values } : { name, text: sql, values };
      return (await this.#client.query(query)) as unknown as PostgresQueryResult<R>;
    } catch (error) {
      if (isLastWord(error)) this.#discard = true;
      if (!isStaleStatement(error)) throw error;
      this.#discard = true;
      if (this.#client.getTransactionStatus() !== 'I') throw error;
      return (await this.#client.query(sql, values)) as unknown as PostgresQueryResult<R>;
    }
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
