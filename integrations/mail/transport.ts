/** A person or a hub with its address. */
export interface Mailbox {
  name: string | null;
  email: string;
}

/** A mail, ready to be sent. */
export interface MailMessage {
  /** The same for every attempt: mail programs show two mails with one id once. */
  id: string;
  from: Mailbox;
  replyTo: Mailbox | null;
  to: Mailbox;
  subject: string;
  text: string;
  html: string;
  date: Date;
}

/** Sends mails. */
export interface MailTransport {
  /** Sends one mail. Throws MailNotSent. */
  send(message: MailMessage, signal: AbortSignal): Promise<void>;
}

/** Sends the mails of all hubs of the installation. */
export interface MailSender extends MailTransport {
  /** The address that they come from. */
  readonly from: string;
}

/** Why a mail was not sent. */
export interface MailNotSentOptions {
  /** Whether the server would refuse it again, such as for an unknown mailbox. */
  isPermanent?: boolean;
  /** Whether it may have been taken all the same: the connection ended before the answer. */
  isUnconfirmed?: boolean;
  cause?: unknown;
}

/** A mail that was not sent, or of which nobody knows. */
export class MailNotSent extends Error {
  override readonly name = 'MailNotSent';
  readonly isPermanent: boolean;
  readonly isUnconfirmed: boolean;

  constructor(message: string, { isPermanent = false, isUnconfirmed = false, cause }: MailNotSentOptions) {
    super(message, { cause });
    this.isPermanent = isPermanent;
    this.isUnconfirmed = isUnconfirmed;
  }
}
