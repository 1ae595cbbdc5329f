import type { SendMailOptions } from 'nodemailer';
import { type Mailbox, type MailMessage, MailNotSent } from './transport.ts';

// A line break becomes a space here, so that a name stays readable. nodemailer encodes what a header cannot hold.
const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

const mailbox = ({ name, email }: Mailbox) => ({ name: name === null ? '' : oneLine(name), address: email });

/**
 * A mail as nodemailer takes it. Names and the subject cannot add a header or a recipient, whatever they contain. Throws MailNotSent for an address that
 * could be read as another one.
 */
export function composed(message: MailMessage): SendMailOptions {
  const { id, from, replyTo, to, subject, text, html, date } = message;
  if (/[\p{Cc}<>]/u.test(to.email)) throw new MailNotSent('The recipient has no valid address.', { isPermanent: true });
  const domain = from.email.slice(from.email.lastIndexOf('@') + 1);
  return {
    messageId: `<${id}@${domain}>`,
    from: mailbox(from),
    to: mailbox(to),
    ...(replyTo ? { replyTo: mailbox(replyTo) } : {}),
    // The recipient is who was asked for, and never what the header reads like.
    envelope: { from: mailbox({ name: null, email: from.email }), to: [mailbox({ name: null, email: to.email })] },
    subject: oneLine(subject),
    text,
    html,
    date,
    // RFC 3834, 5: no absence note answers it.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
