/** What keeps a database from taking writes although it answers, by SQLSTATE or the code of the operating system. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['53100', 'the disk of the database is full'],
  ['53200', 'the database is out of memory'],
  ['25006', 'the database is read-only'],
  ['ENOSPC', 'the disk of the service is full'],
]);

/** Why writes fail, in words for the operator; undefined when the error says something else. */
export function refusalOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? REASONS.get(code) : undefined;
}

/** SQLSTATE of a login that may make no temporary tables. */
const MAY_NOT = '42501';

/** Fails where the database takes no writes: writes a quarter of a megabyte, which is gone with its transaction. */
const TRIAL = `begin; create temporary table guildhall_trial on commit drop as
  select repeat(md5(n::text), 32) as filler from generate_series(1, 256) n; commit`;

/** The part of a client that `WriteRefusals` asks. */
interface Asked {
  query<Row extends object>(text: string): Promise<{ rows: Row[] }>;
}

/** Remembers that the database refused a write, until it takes one again. */
export class WriteRefusals {
  #refused = false;

  /** Takes note of an error of a statement. */
  note(error: unknown): void {
    if (refusalOf(error) !== undefined) this.#refused = true;
  }

  /** Throws what keeps the database from taking writes. After a refusal it tries to write something. */
  async check(client: Asked): Promise<void> {
    const text = "select current_setting('transaction_read_only') = 'on' as closed";
    const { rows } = await client.query<{ closed: boolean }>(text);
    if (rows[0]?.closed) throw Object.assign(new Error('The database is read-only'), { code: '25006' });
    if (!this.#refused) return;
    try {
      await client.query(TRIAL);
    } catch (error) {
      if ((error as { code?: string }).code !== MAY_NOT) throw error;
      await client.query('rollback'); // Nothing can be tried here. The next refused write says it again.
    }
    this.#refused = false;
  }
}
