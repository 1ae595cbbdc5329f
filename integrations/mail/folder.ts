import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composed } from './compose.ts';
import { MailNotSent, type MailTransport } from './transport.ts';

/**
 * Writes each mail to a file of its own in the folder, `<id>.eml` (RFC 5322), which only its owner may read: mails contain links to sign in.
 * Sending a mail again replaces its file, so there is never a second one.
 */
export function folderTransport(folder: string): MailTransport {
  return {
    async send(message) {
      // Imported here, so that a process that sends nothing does not load it.
      const { createTransport } = await import('nodemailer');
      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
      const file = join(folder, `${message.id}.eml`);
      const draft = `${file}.draft`;
      try {
        const { message: content } = await composer.sendMail(composed(message));
        if (!Buffer.isBuffer(content)) throw new Error('The mail was not composed.');
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await chmod(folder, 0o700);
        await writeFile(draft, content, { mode: 0o600, flush: true });
        await rename(draft, file);
      } catch (cause) {
        if (cause instanceof MailNotSent) throw cause;
        await rm(draft, { force: true }).catch(() => undefined);
        throw new MailNotSent(Error.isError(cause) ? cause.message : String(cause), { cause });
      }
    },
  };
}
