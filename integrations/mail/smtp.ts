import { composed } from './compose.ts';
import { MailNotSent, type MailTransport } from './transport.ts';

/** How long each step of a delivery may take. A server that scans a mail before it answers takes its time: RFC 5321, 4.5.3.2.6. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;

/** What nodemailer says of a failure. */
interface SmtpFailure {
  message: string;
  code?: string;
  /** The step that failed. */
  command?: string;
  /** The reply code of the server (RFC 5321, 4.2); absent when there was none. */
  responseCode?: number;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Sends mails over SMTP, each over a connection of its own. `smtps:` uses TLS from the start. `smtp:` uses STARTTLS where the server offers it;
 * with a password it is required, except on the machine itself and where the address says `?requireTLS=false`.
 */
export function smtpTransport(smtpUrl: string): MailTransport {
  const { password, hostname } = new URL(smtpUrl);
  return {
    async send(message, signal) {
      // Imported here, so that a process that sends nothing does not load it.
      const { createTransport } = await import('nodemailer');
      let isHandedOver = false;
      const note = (entry: unknown) => {
        // Written when the last byte of the mail, the final dot, was given to the socket.
        if ((entry as { tnx?: string } | null)?.tnx === 'message') isHandedOver = true;
      };
      const ignore = () => {};
      const transport = createTransport({
        requireTLS: password !== '' && !LOOPBACK.test(hostname),
        url: smtpUrl,
        connectionTimeout: CONNECT_MS,
        greetingTimeout: CONNECT_MS,
        dnsTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        logger: { level: ignore, trace: ignore, debug: ignore, info: note, warn: ignore, error: ignore, fatal: ignore },
      });
      try {
        await transport.sendMail({ ...composed(message), signal });
      } catch (cause) {
        if (cause instanceof MailNotSent) throw cause;
        throw failureOf(cause as SmtpFailure, isHandedOver);
      }
    },
  };
}

function failureOf(cause: SmtpFailure, isHandedOver: boolean): MailNotSent {
  const { message, code, command = '', responseCode } = cause;
  if (responseCode === undefined && isHandedOver)
    return new MailNotSent(`There was no answer to the mail: ${message}`, { isUnconfirmed: true, cause });
  // A refusal of the server itself, of its password or of our address says nothing about this mail: an operator mends it.
  const isOfMail = command === 'RCPT TO' || command === 'DATA';
  const isRefused = isOfMail && responseCode !== undefined && responseCode >= 500;
  const isImpossible = code === 'EENVELOPE' && command === 'API';
  return new MailNotSent(message, { isPermanent: isRefused || isImpossible, cause });
}
