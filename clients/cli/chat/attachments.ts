import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { components } from '../../../generated/api.ts';
import { Failure } from '../failure.ts';
import { localFile, unreadable } from '../upload/localFiles.ts';
import { sizeText } from '../upload/size.ts';

/** A file for the agent, ready to be sent. */
export interface Attachment {
  /** As the user named it. */
  shown: string;
  /** Bytes of the body that it takes: base64 is a third longer than the file. */
  bodyBytes: number;
  sent: components['schemas']['Attachment'];
}

/** Bounds of the document (`Attachment`, `MessageSend`); tests/clients/cli/chat.test.ts compares them. */
export const MAX_ATTACHMENTS = 10;
export const MAX_INLINE_BYTES = 1024 * 1024;
/** The body has 2 MiB; a message of 32,000 characters and the names fit into the rest. */
const MAX_FILES_IN_BODY_BYTES = 2 * 1024 * 1024 - 256 * 1024;

/** Plain text, CSV and Markdown cannot be told apart by their content. */
const TEXT_TYPES: Record<string, string> = {
  '.csv': 'text/csv',
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.txt': 'text/plain',
};

/**
 * A file of this machine, or an address that the service fetches.
 * @throws Failure (exit 2) in one sentence when there is no such file, or it is too big
 */
export async function attachmentOf(shown: string, cwd: string): Promise<Attachment> {
  if (/^https?:\/\//i.test(shown)) return { shown, bodyBytes: shown.length, sent: { url: shown } };
  const file = await localFile(shown, { cwd }, MAX_INLINE_BYTES);
  const data = await readFile(file.path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(shown, error);
  });
  const base64 = data.toString('base64');
  const mediaType = TEXT_TYPES[extname(file.name).toLowerCase()];
  return { shown, bodyBytes: base64.length, sent: { base64, filename: file.name, ...(mediaType && { mediaType }) } };
}

/** @throws Failure (exit 2) when the service would refuse them together */
export function checkTogether(attachments: readonly Attachment[]): void {
  if (attachments.length > MAX_ATTACHMENTS)
    throw new Failure(
      'too_many_files',
      2,
      `A message has at most ${MAX_ATTACHMENTS} files, and these are ${attachments.length}.`,
    );
  const bytes = attachments.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
  if (bytes > MAX_FILES_IN_BODY_BYTES)
    throw new Failure(
      'file_too_large',
      2,
      `The files of one message have ${sizeText(bytes)} as they are sent. At most ${sizeText(MAX_FILES_IN_BODY_BYTES)} fit.`,
      {
        hint: 'Send them with several messages, or by address: https://…',
      },
    );
}
