import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, Mails } from '../../../generated/db.ts';
import type { QueuedMail } from '../../events.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';

/** A mail with what became of it. */
export type MailRow = Selectable<Mails>;

/** What is stored of a mail that is to be sent. */
export type NewMail = Pick<
  MailRow,
  'workspace_id' | 'id' | 'key' | 'kind' | 'recipient' | 'recipient_name' | 'content'
> & { now: Date };

/** Stores a mail. False when the workspace has one with its key already: then nothing changes. */
export async function insertMail(db: Kysely<DB>, { now, ...mail }: NewMail): Promise<boolean> {
  const inserted = await db
    .insertInto('mails')
    .values({ ...mail, due_at: now, created_at: now })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

/** Why a mail is not sent again of which nobody knows whether it was sent. */
export const MAIL_UNCONFIRMED = 'Two attempts ended without an answer: nobody knows whether it was sent.';

/**
 * Takes a mail that is due, to send it: nobody else takes it until `leaseUntil`. One whose process died while it sent is taken once more
 * and is unconfirmed from then on; when that happens again it fails. Undefined when there is nothing to send now.
 */
export async function takeMail(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  { now, leaseUntil }: { now: Date; leaseUntil: Date },
): Promise<MailRow | undefined> {
  await sql`
    update mails set status = 'failed', settled_at = ${now}, error_message = ${MAIL_UNCONFIRMED}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'sending' and is_unconfirmed and due_at <= ${now}`.execute(
    db,
  );
  const { rows } = await sql<MailRow>`
    update mails set status = 'sending', attempts = attempts + 1, due_at = ${leaseUntil},
      is_unconfirmed = is_unconfirmed or status = 'sending'
    where workspace_id = ${workspaceId} and id = ${id} and status in ('queued', 'sending') and due_at <= ${now}
    returning *`.execute(db);
  return rows[0];
}

/** A mail that a process sends, as `takeMail` gave it: another process may have taken it since. */
export type TakenMail = Pick<MailRow, 'workspace_id' | 'id' | 'attempts'>;

/** Stores that a mail was sent. What it said is removed. */
export async function updateMailSent(db: Kysely<DB>, { workspace_id, id }: TakenMail, now: Date): Promise<void> {
  await db
    .updateTable('mails')
    .set({ status: 'sent', content: null, settled_at: now, error_message: null })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('status', '<>', 'sent')
    .execute();
}

/** How an attempt ended that did not send the mail. */
export interface UnsentMail {
  reason: string;
  isUnconfirmed: boolean;
  /** When it is tried again; null = never, unless an operator asks for it. */
  retryAt: Date | null;
}

/** Stores that a mail was not sent. Does nothing when another process has taken it since. */
export async function updateMailUnsent(
  db: Kysely<DB>,
  { workspace_id, id, attempts }: TakenMail,
  { reason, isUnconfirmed, retryAt }: UnsentMail,
  now: Date,
): Promise<void> {
  await db
    .updateTable('mails')
    .set((eb) => ({
      status: retryAt ? 'queued' : 'failed',
      error_message: reason,
      is_unconfirmed: isUnconfirmed ? true : eb.ref('is_unconfirmed'),
      ...(retryAt ? { due_at: retryAt } : { settled_at: now }),
    }))
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .where('attempts', '=', attempts)
    .execute();
}

/** Mails of all workspaces that are due, those of each workspace in turns. */
export async function findDueMails(system: Kysely<DB>, now: Date, limit: number): Promise<Swept<QueuedMail>> {
  const due = sql<QueuedMail>`
    select workspace_id as "workspaceId", id as "mailId" from mails where status in ('queued', 'sending') and due_at <= ${now}
    order by row_number() over (partition by workspace_id order by due_at), due_at limit ${limit}`;
  const next = sql`select min(due_at) from mails where status in ('queued', 'sending') and due_at > ${now}`;
  const { rows } = await sweeping(due, next).execute(system);
  return sweptOf(rows);
}

/** Since when the mail of all workspaces that waits longest is due; undefined when none is. */
export async function findOldestMailTime(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date }>`
    select due_at as due from mails where status in ('queued', 'sending') and due_at <= ${now} order by due_at limit 1`.execute(
    system,
  );
  return rows[0]?.due;
}

/** Removes what was settled before a time, of all workspaces. */
export async function removeOldMails(system: Kysely<DB>, before: Date): Promise<void> {
  await sql`delete from mails where settled_at < ${before}`.execute(system);
}

/** The newest mails of all workspaces, or of one; only those with the status, if it is given. */
export async function selectMailsAnywhere(
  system: Kysely<DB>,
  { workspaceId, status, limit }: { workspaceId?: string | undefined; status?: string | undefined; limit: number },
): Promise<MailRow[]> {
  return await system
    .selectFrom('mails')
    .selectAll()
    .$if(workspaceId !== undefined, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** The mail with an id, of whichever workspace. */
export async function findMailAnywhere(system: Kysely<DB>, id: string): Promise<MailRow | undefined> {
  return await system.selectFrom('mails').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Lets a mail that failed be sent again, with all of its attempts. False when it has not failed. */
export async function updateMailQueued(
  db: Kysely<DB>,
  { workspace_id, id }: Pick<MailRow, 'workspace_id' | 'id'>,
  now: Date,
): Promise<boolean> {
  const queued = await db
    .updateTable('mails')
    .set({ status: 'queued', attempts: 0, is_unconfirmed: false, error_message: null, due_at: now, settled_at: null })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('status', '=', 'failed')
    .returning('id')
    .executeTakeFirst();
  return queued !== undefined;
}
