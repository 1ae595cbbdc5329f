import { createHash } from 'node:crypto';
import { cutText, toStorable } from '../../core/text.ts';
import type { StoredAttachment } from '../../db/stored/attachment.ts';
import type { StoredInboundFile } from '../../db/stored/inboundFile.ts';
import type { ChannelAccount, ChannelProvider, InboundMedia } from '../../integrations/channels/provider.ts';
import { cleanName } from '../../runtime/files/attachmentNames.ts';
import type { Runtime } from '../../runtime/runtime.ts';

/** Milliseconds for each file. */
const TIMEOUT_MS = 30_000;
/** As much as a provider hands out. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const MAX_TYPE = 100;

/** Fetches a file that a person sent. Throws when it cannot be had. */
export type FetchMedia = (
  media: InboundMedia,
  signal: AbortSignal,
) => Promise<{ bytes: Buffer; mediaType: string | null }>;

/** What came of the files of a message. */
export interface FetchedFiles {
  /** In the file store, until the message is answered. */
  files: StoredInboundFile[];
  /** As the message shows them. */
  attachments: StoredAttachment[];
  /** A sentence for each that could not be had, for the model. */
  notes: string[];
}

/** Where a file lies in the file store until its message is answered. A second attempt stores it under the same key. */
export function inboundFileKey(workspaceId: string, inboundId: string, place: number): string {
  return `${workspaceId}/inbound/${inboundId}-${place}`;
}

/** How a provider's files are fetched. */
export function fetchMediaOf(provider: ChannelProvider, account: ChannelAccount): FetchMedia {
  return (media, signal) => provider.fetchMedia(account, media, signal);
}

/**
 * Fetches the files of a message now, since the provider forgets them, and stores them. One that cannot be had is noted: it must not lose
 * the message. Throws only when the file store does not take a file, or when `ending` aborts.
 */
export async function fetchFiles(
  runtime: Pick<Runtime, 'files' | 'logger'>,
  { workspaceId, inboundId }: { workspaceId: string; inboundId: string },
  media: readonly InboundMedia[],
  { fetch, ending }: { fetch: FetchMedia; ending: AbortSignal },
): Promise<FetchedFiles> {
  const fetched: FetchedFiles = { files: [], attachments: [], notes: [] };
  for (const [place, each] of media.entries()) {
    const filename = cleanName(toStorable(each.filename ?? '')) || `file-${place + 1}`;
    let found: Awaited<ReturnType<FetchMedia>>;
    try {
      found = await fetch(each, AbortSignal.any([ending, AbortSignal.timeout(TIMEOUT_MS)]));
      if (found.bytes.length > MAX_FILE_BYTES) throw new Error('The file is too large.');
    } catch (error) {
      ending.throwIfAborted();
      runtime.logger?.warn({ workspaceId, err: error }, 'a file that a person sent could not be fetched');
      fetched.notes.push(`[The person sent ${filename}${typeNote(each.mediaType)}, which could not be fetched.]`);
      continue;
    }
    const mediaType = cutText(toStorable(found.mediaType ?? each.mediaType ?? 'application/octet-stream'), MAX_TYPE);
    const key = inboundFileKey(workspaceId, inboundId, place);
    await runtime.files.put(key, found.bytes);
    const sha256 = createHash('sha256').update(found.bytes).digest('hex');
    fetched.files.push({ key, mediaType, filename });
    fetched.attachments.push({ mediaType, filename, sizeBytes: found.bytes.length, sha256 });
  }
  return fetched;
}

function typeNote(mediaType: string | null): string {
  return mediaType === null ? '' : ` (${cutText(toStorable(mediaType), MAX_TYPE)})`;
}

/** Removes files that nobody needs any more. Never rejects: what stays is removed with nothing else. */
export async function dropFiles(
  runtime: Pick<Runtime, 'files' | 'logger'>,
  files: readonly Pick<StoredInboundFile, 'key'>[],
): Promise<void> {
  for (const { key } of files) {
    await runtime.files.delete(key).catch((error: unknown) => {
      runtime.logger?.warn({ err: error }, 'a file that a person sent was not removed');
    });
  }
}
