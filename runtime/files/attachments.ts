import { createHash } from 'node:crypto';
import { type ApiError, fault, invalid } from '../../core/errors.ts';
import { guardedFetch, type OutgoingClient, OutgoingFailed, OutgoingRefused } from '../../core/outgoing.ts';
import { escapeXml } from '../../core/text.ts';
import type { StoredAttachment } from '../../db/stored/attachment.ts';
import type { UserPart } from '../models/prompt.ts';
import { type AttachmentReader, acceptedKind, DEAF, hasAudio } from './acceptedKind.ts';
import type { AttachmentKind } from './attachmentKind.ts';
import { filenameOf, titleOf } from './attachmentNames.ts';

/** As it stands in a request: exactly one of `base64` and `url`. */
export interface AttachmentInput {
  base64?: string;
  url?: string;
  filename?: string;
  mediaType?: string;
}

/** An attachment with its content, of a kind that the model accepts, or audio for an agent that listens. */
export interface ResolvedAttachment {
  kind: AttachmentKind['attachment'];
  mediaType: string;
  filename: string;
  bytes: Uint8Array;
  sizeBytes: number;
  sha256: string;
  url?: string;
}

/** The model and the settings that decide how attachments are resolved. */
export interface AttachmentContext extends AttachmentReader {
  allowPrivateNetwork: boolean;
  workspaceId: string;
  signal?: AbortSignal;
  /** Milliseconds for each download; 15 seconds when absent. */
  timeoutMs?: number;
  /** The HTTP client; tests pass one with a resolver of their own. */
  fetch?: OutgoingClient['guardedFetch'];
}

/** Attachments of one message. */
export const MAX_ATTACHMENTS = 10;
/** Decoded bytes of one inline attachment: the whole JSON body has 2 MiB. */
export const MAX_INLINE_BYTES = 1_048_576;
/** Bytes of one attachment given by URL. */
export const MAX_URL_BYTES = 10_485_760;
/** Bytes of all attachments of a message: providers take 20 to 50 MB a request, base64 adds a third. */
export const MAX_TOTAL_BYTES = 20_971_520;
function invalidInput(index: number, field: string, message: string, keyword: string): ApiError {
  return invalid(`/body/attachments/${index}${field}`, message, keyword);
}

function tooLarge(what: string, limit: number): ApiError {
  return fault('ATTACHMENT_TOO_LARGE', `${what} over the limit of ${limit / 1_048_576} MiB.`);
}

function decodeInline(base64: string, title: string, index: number): Buffer {
  if (Math.floor((base64.length * 3) / 4) - 2 > MAX_INLINE_BYTES) throw tooLarge(`${title} is`, MAX_INLINE_BYTES);
  const bytes = Buffer.from(base64, 'base64');
  // Buffer skips invalid characters. Only canonical base64 encodes back to the same text.
  if (bytes.length === 0 || bytes.toString('base64') !== base64) {
    const message = 'must be base64 (RFC 4648, section 4) with padding, without line breaks or a data: prefix';
    throw invalidInput(index, '/base64', message, 'contentEncoding');
  }
  if (bytes.length > MAX_INLINE_BYTES) throw tooLarge(`${title} is`, MAX_INLINE_BYTES);
  return bytes;
}

async function download(url: string, title: string, maxBytes: number, context: AttachmentContext) {
  const fetch = context.fetch ?? guardedFetch;
  let response: Awaited<ReturnType<typeof guardedFetch>>;
  try {
    response = await fetch(url, {
      timeoutMs: context.timeoutMs ?? 15_000,
      maxBytes,
      allowPrivateNetwork: context.allowPrivateNetwork,
      workspaceId: context.workspaceId,
      signal: context.signal,
    });
  } catch (error) {
    if (error instanceof OutgoingFailed && error.reason === 'too_large') {
      throw maxBytes < MAX_URL_BYTES
        ? tooLarge('The attachments together are', MAX_TOTAL_BYTES)
        : tooLarge(`${title} is`, MAX_URL_BYTES);
    }
    if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) {
      throw fault('UNSUPPORTED_ATTACHMENT', `${title} could not be fetched. ${error.message}`, { cause: error });
    }
    throw error;
  }
  if (response.status < 200 || response.status > 299) {
    throw fault(
      'UNSUPPORTED_ATTACHMENT',
      `${title} could not be fetched: its address returned status ${response.status}.`,
    );
  }
  return response;
}

function decodeAll(inputs: readonly AttachmentInput[]): (Buffer | null)[] {
  return inputs.map((input, index) => {
    if ((input.base64 === undefined) === (input.url === undefined)) {
      throw invalidInput(index, '', 'must have exactly one of base64 and url', 'oneOf');
    }
    if (input.url !== undefined && !URL.canParse(input.url)) {
      throw invalidInput(index, '/url', 'must be an absolute URL', 'format');
    }
    return input.base64 === undefined ? null : decodeInline(input.base64, titleOf(input, index), index);
  });
}

/** Throws the same VALIDATION_ERROR as `resolveAttachments`, before any work starts. */
export function checkAttachments(inputs: readonly AttachmentInput[]): void {
  try {
    decodeAll(inputs);
  } catch (error) {
    if ((error as ApiError).status === 400) throw error;
  }
}

/**
 * Resolves the attachments of a message and checks that the model accepts them.
 *
 * - Inline content is at most 1 MiB decoded, by URL 10 MiB, all together 20 MiB. URLs are fetched one after the other with the guarded client.
 * - PNG, JPEG, WebP and GIF are images; PDF, plain text, CSV and Markdown are documents. The bytes decide. `mediaType`, the
 *   file name's extension and the server's Content-Type only tell the text kinds apart, and a `mediaType` that the bytes contradict
 *   is refused. DOCX is refused: no provider takes it.
 * - MP3, WAV, OGG, WebM, MP4 and FLAC without pictures are audio, for agents that listen.
 * @throws VALIDATION_ERROR (400): none or both of base64 and url, broken base64, broken URL
 * @throws ATTACHMENT_TOO_LARGE, UNSUPPORTED_ATTACHMENT (422): size; kind, model, or an address that is refused or does not deliver
 */
export async function resolveAttachments(
  inputs: readonly AttachmentInput[],
  context: AttachmentContext,
): Promise<ResolvedAttachment[]> {
  if (inputs.length > MAX_ATTACHMENTS) {
    throw invalid('/body/attachments', `must NOT have more than ${MAX_ATTACHMENTS} items`, 'maxItems');
  }
  // Checks that need no network come first: an invalid message must not cause requests to other servers.
  const inline = decodeAll(inputs);
  const { model, listens = false } = context;
  if (inputs.length > 0 && !listens && !model.supportsImage && !model.supportsDocument) {
    const why = (await hasAudio(inline)) ? DEAF : `The model ${model.name} takes no attachments.`;
    throw fault('UNSUPPORTED_ATTACHMENT', why);
  }

  const resolved: ResolvedAttachment[] = [];
  let total = inline.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0);
  for (const [index, input] of inputs.entries()) {
    const title = titleOf(input, index);
    let bytes: Buffer | null = inline[index] ?? null;
    let served: string | undefined;
    if (bytes === null) {
      const response = await download(
        input.url ?? '',
        title,
        Math.min(MAX_URL_BYTES, MAX_TOTAL_BYTES - total),
        context,
      );
      bytes = response.body;
      served = response.headers['content-type'];
      total += bytes.length;
    }
    const kind = await acceptedKind(bytes, {
      title,
      filename: filenameOf(input, index, ''),
      mediaType: input.mediaType,
      served,
      context,
    });
    resolved.push({
      kind: kind.attachment,
      mediaType: kind.mediaType,
      filename: filenameOf(input, index, kind.extensions[0] ?? ''),
      bytes,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      ...(input.url === undefined ? {} : { url: input.url }),
    });
  }
  return resolved;
}

/** A file that a person sent over a channel, as an attachment. Throws UNSUPPORTED_ATTACHMENT as `resolveAttachments` does. */
export async function resolveFile(
  bytes: Buffer,
  { filename, mediaType }: { filename: string; mediaType: string },
  context: AttachmentReader,
): Promise<ResolvedAttachment> {
  const { attachment, ...kind } = await acceptedKind(bytes, { title: filename, filename, mediaType, context });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { kind: attachment, mediaType: kind.mediaType, filename, bytes, sizeBytes: bytes.length, sha256 };
}

/**
 * The attachments as content parts of the user message. Images and PDF go as files, which every provider of the AI SDK takes; text
 * kinds go as text between tags with the file's name, since of the providers only Anthropic and Google take them as files. Audio is
 * none of them: it goes as its transcript (audio/transcribe.ts).
 */
export function toModelParts(attachments: readonly ResolvedAttachment[]): UserPart[] {
  const seen = attachments.filter(({ kind }) => kind !== 'audio');
  return seen.map(({ mediaType, filename, bytes }) => {
    if (!mediaType.startsWith('text/'))
      return { type: 'file', mediaType, filename, data: { type: 'data', data: bytes } };
    const text = new TextDecoder('utf-8').decode(bytes);
    return {
      type: 'text',
      text: `<attachment name="${escapeXml(filename)}" type="${mediaType}">\n${text}\n</attachment>`,
      file: { filename, mediaType, bytes: bytes.length },
    };
  });
}

/** Returns what is stored with the message. The content is not, because the model sees it in this turn only. */
export function toStored(attachments: readonly ResolvedAttachment[]): StoredAttachment[] {
  return attachments.map(({ mediaType, filename, sizeBytes, sha256, url }) => ({
    mediaType,
    filename,
    sizeBytes,
    sha256,
    ...(url === undefined ? {} : { url }),
  }));
}

function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`;
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/**
 * The text of an earlier message as later turns show it to the model: its content, and a note for each attachment, such as
 * `[attachment: report.pdf, application/pdf, 20 KB]`. So the model knows what its earlier answers were about, and a
 * conversation does not pay for the same pages and pixels again in every turn. Users attach a file again when it is
 * needed again. A recording with a transcript has no note, because the content has its words.
 */
export function withAttachmentNotes(content: string, attachments: readonly StoredAttachment[]): string {
  const unread = attachments.filter(({ transcript }) => transcript === undefined);
  const notes = unread.map((one) => `[attachment: ${one.filename}, ${one.mediaType}, ${sizeText(one.sizeBytes)}]`);
  return [content, ...notes].filter((line) => line !== '').join('\n');
}
