import { cutText, toStorable } from '../../core/text.ts';
import { ensureHub } from '../../db/queries/hubs/hubs.ts';
import { type MailRow, takeMail, updateMailSent, updateMailUnsent } from '../../db/queries/mails/mails.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { MailNotSent } from '../../integrations/mail/transport.ts';
import type { WorkspaceContext } from '../context.ts';
import { logoUrlOf } from '../hubs/hubUrl.ts';
import { openMailContent } from './mailContent.ts';
import type { MailKind } from './mailData.ts';
import { type MailHub, renderMail } from './render.ts';

/** The mail server has this long to take a mail. */
const SEND_MS = 120_000;
/** Longer than sending takes: after it the process that sent must be dead. */
const LEASE_MS = 180_000;
const MINUTE_MS = 60_000;
/** Milliseconds after each failed attempt: half a day in all. After the last one the mail is given up. */
const BACK_OFF_MS = [
  MINUTE_MS / 2,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  60 * MINUTE_MS,
  4 * 60 * MINUTE_MS,
  7 * 60 * MINUTE_MS,
];
const MAX_REASON = 1_000;

/**
 * Sends a mail if it is due, once by its id. What may pass is tried again with back-off, what the server refuses for good is failed. An attempt that
 * ended without an answer, or with the process, is repeated once, under the same Message-ID. It can be run at any time, and by several processes at
 * once. Returns in how many milliseconds the mail is to be tried again; undefined when it is settled or not due. Throws without a database.
 */
export async function sendQueuedMail(
  context: WorkspaceContext,
  id: string,
  ending: AbortSignal,
): Promise<number | undefined> {
  const { db, workspaceId, clock } = context;
  const now = clock.now();
  const mail = await takeMail(db, workspaceId, id, { now, leaseUntil: new Date(now.getTime() + LEASE_MS) });
  if (!mail) return undefined;
  try {
    await sendOne(context, mail, AbortSignal.any([ending, AbortSignal.timeout(SEND_MS)]));
  } catch (error) {
    return await storeFailure(context, mail, error);
  }
  await updateMailSent(db, mail, clock.now());
  return undefined;
}

async function sendOne(context: WorkspaceContext, mail: MailRow, signal: AbortSignal): Promise<void> {
  const { workspaceId, runtime, clock } = context;
  const { id, kind, recipient, recipient_name: name, content } = mail;
  if (!content) throw new MailNotSent('What the mail says is gone.', { isPermanent: true });
  const data = openMailContent(runtime.secrets, { workspaceId, id }, content);
  if ('expiresAt' in data && new Date(data.expiresAt) <= clock.now())
    throw new MailNotSent('Its link had expired before it could be sent.', { isPermanent: true });
  const { hub, replyTo } = await hubOf(context);
  const { subject, text, html } = renderMail({ kind: kind as MailKind, data, recipientName: name }, hub);
  await runtime.mail.send(
    {
      id,
      from: { name: hub.name, email: runtime.mail.from },
      replyTo: replyTo === null ? null : { name: hub.name, email: replyTo },
      to: { name, email: recipient },
      subject,
      text,
      html,
      date: mail.created_at,
    },
    signal,
  );
}

async function hubOf({
  db,
  workspaceId,
  runtime,
}: WorkspaceContext): Promise<{ hub: MailHub; replyTo: string | null }> {
  const row = await ensureHub(db, workspaceId);
  const workspace = await findWorkspace(db, workspaceId);
  const hub: MailHub = {
    name: row.name,
    logoUrl: logoUrlOf(runtime, row.logo_email_key),
    locale: row.locale,
    timeZone: workspace?.time_zone ?? 'UTC',
    theme: row.theme === 'dark' ? 'dark' : 'light',
    color: row.primary_color,
    supportEmail: row.support_email,
  };
  return { hub, replyTo: row.support_email };
}

async function storeFailure(context: WorkspaceContext, mail: MailRow, error: unknown): Promise<number | undefined> {
  const { db, workspaceId, runtime, clock } = context;
  const known = error instanceof MailNotSent ? error : undefined;
  const isUnconfirmed = known?.isUnconfirmed === true;
  const isOver = known?.isPermanent === true || (isUnconfirmed && mail.is_unconfirmed);
  const waitMs = isOver ? undefined : BACK_OFF_MS[mail.attempts - 1];
  const now = clock.now();
  const reason = cutText(toStorable(Error.isError(error) ? error.message : String(error)), MAX_REASON);
  const retryAt = waitMs === undefined ? null : new Date(now.getTime() + waitMs);
  // The error of a library may hold the mail itself, with its links.
  runtime.logger?.warn({ workspaceId, mailId: mail.id, reason, retryAt }, 'a mail was not sent');
  await updateMailUnsent(db, mail, { reason, isUnconfirmed, retryAt }, now);
  return waitMs;
}
