import { hasOnlySound } from '../audio/tracks.ts';
import { extensionOf, FILE_KINDS, type FileKind, namesOf, plainType } from './fileKinds.ts';

/** A kind of file that a message can have as an attachment. */
export type AttachmentKind = FileKind & { attachment: 'image' | 'document' | 'audio' };

/** What others claim about a file, the best source first. The bytes overrule all of it. */
export interface FileHints {
  /** By the sender of the message. */
  declared?: string | undefined;
  /** Content-Type of the server that it was fetched from. */
  served?: string | undefined;
  filename: string;
}

const KINDS = FILE_KINDS.filter((kind): kind is AttachmentKind => kind.attachment !== null);
const BY_TYPE = new Map(KINDS.map((kind) => [kind.mediaType, kind]));
/** Containers that hold sound or video. One without a picture is audio, whatever its type says. */
const CONTAINERS = new Map([
  ['video/webm', 'audio/webm'],
  ['audio/webm', 'audio/webm'],
  ['video/mp4', 'audio/mp4'],
  ['audio/mp4', 'audio/mp4'],
]);
const ACCEPTED =
  `Send ${namesOf(KINDS.filter(({ attachment }) => attachment !== 'audio'))}; to an agent that listens also audio as ` +
  `${namesOf(KINDS.filter(({ attachment }) => attachment === 'audio'))}.`;

function isText(bytes: Uint8Array): boolean {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return false;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells binary data from text.
  return !/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(text);
}

/** The kind of text that the hints name. */
function textType({ declared, served, filename }: FileHints): string | undefined {
  const extension = extensionOf(filename) ?? '';
  const named = KINDS.find(({ extensions }) => extensions.includes(extension))?.mediaType;
  return [declared, named, served]
    .map((hint) => plainType(hint ?? ''))
    .find((type) => type.startsWith('text/') && BY_TYPE.has(type));
}

/**
 * Detects the kind of an attachment by its bytes. Returns a string, the end of a sentence about the file, when it is not accepted.
 * Text has no magic number: valid UTF-8 without control characters is text, of the kind that the hints say, else plain text.
 */
export async function attachmentKind(bytes: Uint8Array, hints: FileHints): Promise<AttachmentKind | string> {
  // Loaded at the first attachment, to keep its tables out of an idle service.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes);
  let declared = hints.declared === undefined ? undefined : plainType(hints.declared);
  const hinted = textType(hints);

  let mediaType = found === undefined ? undefined : plainType(found.mime);
  const sound = CONTAINERS.get(mediaType ?? '');
  if (sound !== undefined && hasOnlySound(bytes, sound)) {
    // Browsers call recordings of sound videos, too.
    if (CONTAINERS.get(declared ?? '') === sound) declared = sound;
    mediaType = sound;
  } else if (sound !== undefined) return `is a video, which is not accepted. ${ACCEPTED}`;
  // Some formats begin with plain letters ("BM", "MZ", "ID3"). A text that happens to begin so is still a text.
  const shadowed =
    mediaType !== undefined && hinted !== undefined && (BY_TYPE.get(mediaType)?.attachment ?? 'audio') === 'audio';
  if ((mediaType === undefined || shadowed) && isText(bytes)) mediaType = hinted ?? 'text/plain';
  if (mediaType === undefined) {
    return hinted === undefined ? `is of no known type. ${ACCEPTED}` : `is not text in UTF-8, as ${hinted} must be.`;
  }
  const kind = BY_TYPE.get(mediaType);
  if (kind === undefined) return `is ${mediaType}, which is not accepted. ${ACCEPTED}`;
  if (declared !== undefined && declared !== mediaType) {
    return BY_TYPE.has(declared)
      ? `is declared as ${declared}, but its content is ${mediaType}.`
      : `is declared as ${declared}, which is not accepted. ${ACCEPTED}`;
  }
  return kind;
}
