import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, Mails } from '../../../generated/db.ts';

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
    update mails set status = 'failed', content = null, settled_at = ${now}, error_message = ${MAIL_UNCONFIRMED}
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
  /** When it is tried again; null = never: then what it said is removed. */
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
      ...(retryAt ? { due_at: retryAt } : { content: null, settled_at: now }),
    }))
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .where('attempts', '=', attempts)
    .execute();
}
