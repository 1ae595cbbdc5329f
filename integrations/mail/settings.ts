/** How mails leave the service. */
export interface MailSettings {
  /** The SMTP server, with user and password; absent: mails are written to files. */
  smtpUrl?: string | undefined;
  /** The address that mails come from. The name of the hub stands before it. */
  from: string;
}

/** Reads `SMTP_URL` and `GUILDHALL_MAIL_FROM`. Throws when one is not valid or missing; the message does not repeat the address of the server. */
export function mailSettingsFromEnv(env: NodeJS.ProcessEnv): MailSettings {
  const smtpUrl = env.SMTP_URL || undefined;
  const from = env.GUILDHALL_MAIL_FROM?.trim() || undefined;
  const url = smtpUrl === undefined ? undefined : URL.parse(smtpUrl);
  if (smtpUrl !== undefined && (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === ''))
    throw new Error('SMTP_URL must be an address such as smtps://user:password@smtp.example.com.');
  if (from !== undefined && !/^[^\s<>(),;:"@]+@[^\s<>(),;:"@]+$/.test(from))
    throw new Error('GUILDHALL_MAIL_FROM must be an email address such as hub@example.com.');
  if (smtpUrl !== undefined && from === undefined)
    throw new Error('SMTP_URL needs GUILDHALL_MAIL_FROM, the address that mails come from.');
  return { smtpUrl, from: from ?? 'hub@localhost' };
}
