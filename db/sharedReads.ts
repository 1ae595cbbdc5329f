import type { Kysely } from 'kysely';
import type { DB } from '../generated/db.ts';

/** The reads of one row: the one that runs, and the one that begins when it has ended. */
interface RowReads<Row> {
  running: Promise<Row>;
  next: Promise<Row> | undefined;
}

/**
 * A read by key that those who ask for the same row share: while one runs, all who ask meanwhile get the next one. So each gets the row as
 * it was after he had asked, and however many ask, one statement at a time is sent for a row. Rows are shared, too: nobody may change them.
 */
export function shareReads<Row>(
  read: (db: Kysely<DB>, workspaceId: string, id: string) => Promise<Row>,
): (db: Kysely<DB>, workspaceId: string, id: string) => Promise<Row> {
  // By handle: a transaction sees what others do not.
  const handles = new WeakMap<Kysely<DB>, Map<string, RowReads<Row>>>();
  return (db, workspaceId, id) => {
    const reads = handles.get(db) ?? new Map<string, RowReads<Row>>();
    handles.set(db, reads);
    return join(reads, `${workspaceId}/${id}`, () => read(db, workspaceId, id));
  };
}

function join<Row>(reads: Map<string, RowReads<Row>>, key: string, read: () => Promise<Row>): Promise<Row> {
  const current = reads.get(key);
  if (current) {
    current.next ??= current.running.then(
      () => begin(reads, key, read),
      () => begin(reads, key, read),
    );
    return current.next;
  }
  return begin(reads, key, read);
}

function begin<Row>(reads: Map<string, RowReads<Row>>, key: string, read: () => Promise<Row>): Promise<Row> {
  const mine: RowReads<Row> = { running: read(), next: undefined };
  reads.set(key, mine);
  const end = () => {
    // Another one has begun in its place when somebody waits.
    if (!mine.next && reads.get(key) === mine) reads.delete(key);
  };
  mine.running.then(end, end);
  return mine.running;
}
