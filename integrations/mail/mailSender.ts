import { folderTransport } from './folder.ts';
import type { MailSettings } from './settings.ts';
import { smtpTransport } from './smtp.ts';
import type { MailSender } from './transport.ts';

/** The sender that the settings ask for. Without an SMTP server mails are written to `folder`. */
export function mailSenderOf({ smtpUrl, from }: MailSettings, folder: string): MailSender {
  return { ...(smtpUrl === undefined ? folderTransport(folder) : smtpTransport(smtpUrl)), from };
}
