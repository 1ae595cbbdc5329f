import pg from 'pg';

/** A statement that travels with another one, in the same round trip and the same transaction. Its own result is not kept. */
export interface LeadingStatement {
  text: string;
  values: string[];
  /** The name under which the connection has prepared it; absent: it is parsed now. */
  name?: string | undefined;
  /** What its row must begin with, if it returns one. */
  returns?: readonly string[];
}

/** What a statement gives, as Kysely reads it. */
export interface StatementResult {
  command: string;
  rowCount: number | null;
  rows: unknown[];
}

type Done = (error: Error | null, result: StatementResult) => void;

/** The methods through which the driver feeds a query; its types leave them out. */
interface DriverQuery extends pg.Submittable {
  submit(connection: pg.Connection): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}

const DriverQuery = pg.Query as unknown as new (
  config: pg.QueryConfig & { queryMode: 'extended' },
  done: Done,
) => DriverQuery;

/** The methods of a connection that write messages; the driver's types ask for an argument that these do not take. */
interface MessageWriter extends pg.Connection {
  parse(message: { text: string; name: string }): void;
  bind(message: { statement: string; values: string[] }): void;
  execute(message: object): void;
}

const NOTHING: StatementResult = { command: '', rowCount: null, rows: [] };
/** The messages of steps that are prepared, which do not change. */
const written = new WeakMap<LeadingStatement, Buffer>();

/**
 * A statement with others ahead of it and after it, all before one Sync: one round trip, and outside a transaction block one transaction. When one
 * of them fails, PostgreSQL skips the rest. When one returns another row than it must, or less comes back than was sent, nothing of
 * the result is handed out.
 */
export class PipelinedStatement extends DriverQuery {
  readonly #ahead: readonly LeadingStatement[];
  readonly #after: readonly LeadingStatement[];
  readonly #done: Done;
  #completed = 0;
  #wrong = false;

  /** `after` is what must be sent after the statement, such as a commit. */
  constructor(
    query: pg.QueryConfig,
    { ahead, after = [] }: { ahead: readonly LeadingStatement[]; after?: readonly LeadingStatement[] },
    done: Done,
  ) {
    super({ ...query, queryMode: 'extended' }, done);
    this.#ahead = ahead;
    this.#after = after;
    this.#done = done;
  }

  override submit(connection: pg.Connection): void {
    const messages: Buffer[] = [];
    const writer = writerInto(messages, connection);
    for (const step of this.#ahead) {
      const known = written.get(step);
      if (known) messages.push(known);
      else write(step, writer, messages);
    }
    super.submit(writer);
    if (this.#after.length > 0) {
      // The driver's last message is the Sync.
      const sync = messages.splice(-1);
      for (const step of this.#after) write(step, writer, messages);
      messages.push(...sync);
    }
    // A connection that is closed tells so by itself.
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages));
  }

  override handleDataRow(message: { fields: (string | null)[] }): void {
    const step = this.#ahead[this.#completed];
    if (step === undefined) super.handleDataRow(message);
    else if (step.returns?.some((value, index) => message.fields[index] !== value)) this.#wrong = true;
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#completed === this.#ahead.length) super.handleCommandComplete(message, connection);
    this.#completed += 1;
  }

  override handleReadyForQuery(connection: pg.Connection): void {
    if (this.#wrong || this.#completed !== this.#ahead.length + 1 + this.#after.length) {
      this.#done(new Error('The database did not run the statement with its settings'), NOTHING);
    } else super.handleReadyForQuery(connection);
  }
}

function write(step: LeadingStatement, writer: MessageWriter, messages: Buffer[]): void {
  const from = messages.length;
  const { text, values, name = '' } = step;
  if (name === '') writer.parse({ text, name });
  writer.bind({ statement: name, values });
  writer.execute({});
  if (name !== '') written.set(step, Buffer.concat(messages.slice(from)));
}

/** The connection, but what it sends goes into `messages`: everything leaves in one write. */
function writerInto(messages: Buffer[], connection: pg.Connection): MessageWriter {
  return Object.create(connection, {
    stream: { value: {} },
    _send: { value: (message: Buffer) => void messages.push(message) },
  });
}
