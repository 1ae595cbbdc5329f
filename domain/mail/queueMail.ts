import type { Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import type { SecretBox } from '../../core/secrets.ts';
import { cutText, toStorable } from '../../core/text.ts';
import { mailQueued } from '../../db/events.ts';
import { insertMail } from '../../db/queries/mails/mails.ts';
import type { DB } from '../../generated/db.ts';
import { sealMailContent } from './mailContent.ts';
import type { MailData, MailKind } from './mailData.ts';

/** A longer name is cut: no mail program shows more. */
const MAX_RECIPIENT_NAME = 255;

/** A mail of one kind to one person, from the hub of the workspace. */
type MailOf<Kind extends MailKind> = {
  workspaceId: string;
  kind: Kind;
  to: { email: string; name: string | null };
  /** What the mail tells of, such as `invitation:<id>:<expiresAt>`: the same is never sent twice. At most 300 characters. */
  key: string;
  data: MailData[Kind];
};

/** A mail that is to be sent. */
export type MailToQueue = { [Kind in MailKind]: MailOf<Kind> }[MailKind];

/** What a mail is sealed with and dated by; a WorkspaceContext has both. */
export interface MailContext {
  runtime: { secrets: SecretBox };
  clock: { now(): Date };
}

/**
 * Stores a mail within the caller's transaction. It goes out after the commit, and not at all when the transaction fails. Does nothing when the
 * workspace has a mail with this key.
 */
export async function queueMail(
  trx: Transaction<DB>,
  { runtime: { secrets }, clock }: MailContext,
  mail: MailToQueue,
): Promise<void> {
  const { workspaceId, kind, to, key, data } = mail;
  const id = newId();
  const stored = await insertMail(trx, {
    workspace_id: workspaceId,
    id,
    key,
    kind,
    recipient: to.email,
    recipient_name: to.name === null ? null : cutText(toStorable(to.name), MAX_RECIPIENT_NAME),
    content: sealMailContent(secrets, { workspaceId, id }, data),
    now: clock.now(),
  });
  if (stored) await mailQueued.notify(trx, { workspaceId, mailId: id });
}
