import { hasOnlySound } from '../audio/tracks.ts';

/** A kind of file that models take; audio they get as its transcript. */
export interface FileKind {
  kind: 'image' | 'document' | 'audio';
  mediaType: string;
  extension: string;
}

/** What is said about a file, best source first; none of it is believed against the bytes. */
export interface FileHints {
  /** By the sender of the message. */
  declared?: string | undefined;
  /** Content-Type of the server that it was fetched from. */
  served?: string | undefined;
  filename: string;
}

const KINDS: readonly FileKind[] = [
  { kind: 'image', mediaType: 'image/png', extension: 'png' },
  { kind: 'image', mediaType: 'image/jpeg', extension: 'jpg' },
  { kind: 'image', mediaType: 'image/webp', extension: 'webp' },
  { kind: 'image', mediaType: 'image/gif', extension: 'gif' },
  { kind: 'document', mediaType: 'application/pdf', extension: 'pdf' },
  { kind: 'document', mediaType: 'text/plain', extension: 'txt' },
  { kind: 'document', mediaType: 'text/csv', extension: 'csv' },
  { kind: 'document', mediaType: 'text/markdown', extension: 'md' },
  { kind: 'audio', mediaType: 'audio/mpeg', extension: 'mp3' },
  { kind: 'audio', mediaType: 'audio/wav', extension: 'wav' },
  { kind: 'audio', mediaType: 'audio/ogg', extension: 'ogg' },
  { kind: 'audio', mediaType: 'audio/webm', extension: 'webm' },
  { kind: 'audio', mediaType: 'audio/mp4', extension: 'm4a' },
  { kind: 'audio', mediaType: 'audio/flac', extension: 'flac' },
];
const BY_TYPE = new Map(KINDS.map((kind) => [kind.mediaType, kind]));
const ALIASES = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['image/apng', 'image/png'],
  ['application/x-pdf', 'application/pdf'],
  ['application/csv', 'text/csv'],
  ['text/x-csv', 'text/csv'],
  ['text/x-markdown', 'text/markdown'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/vnd.wave', 'audio/wav'],
  ['audio/opus', 'audio/ogg'],
  ['application/ogg', 'audio/ogg'],
  ['audio/m4a', 'audio/mp4'],
  ['audio/x-m4a', 'audio/mp4'],
  ['audio/x-flac', 'audio/flac'],
]);
const TEXT_BY_EXTENSION = new Map([
  ['txt', 'text/plain'],
  ['text', 'text/plain'],
  ['log', 'text/plain'],
  ['csv', 'text/csv'],
  ['md', 'text/markdown'],
  ['markdown', 'text/markdown'],
]);
/** Containers of sound or of films; those without a picture are sound, whatever they are called. */
const CONTAINERS = new Map([
  ['video/webm', 'audio/webm'],
  ['audio/webm', 'audio/webm'],
  ['video/mp4', 'audio/mp4'],
  ['audio/mp4', 'audio/mp4'],
]);
const ACCEPTED =
  'Send PNG, JPEG, WebP, GIF, PDF, plain text, CSV or Markdown; to an agent that listens also audio as MP3, WAV, OGG, WebM, M4A or FLAC.';

/** Lower case, without parameters, under its usual name. */
function plainType(mediaType: string): string {
  const bare = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return ALIASES.get(bare) ?? bare;
}

/** Whether a media type says anything: `application/octet-stream` is what senders write who do not know. */
export function isDeclared(mediaType: string | undefined): mediaType is string {
  return (
    mediaType !== undefined && !['', 'application/octet-stream', 'binary/octet-stream'].includes(plainType(mediaType))
  );
}

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

function textType({ declared, served, filename }: FileHints): string | undefined {
  const extension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  for (const hint of [declared, TEXT_BY_EXTENSION.get(extension), served]) {
    const type = hint === undefined ? '' : plainType(hint);
    if (type.startsWith('text/') && BY_TYPE.has(type)) return type;
  }
  return undefined;
}

/**
 * What a file is, told by its bytes; a string, the end of a sentence about the file, when it is nothing that can be taken. Text has no
 * magic number: valid UTF-8 without control characters is text, of the kind that the hints say, plain where they say nothing.
 */
export async function fileKind(bytes: Uint8Array, hints: FileHints): Promise<FileKind | string> {
  // Loaded at the first attachment; an idle service needs none of its tables.
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
  // A few ASCII letters are magic for some formats ("BM", "MZ", "ID3"): a text that happens to begin so is still a text.
  const shadowed =
    mediaType !== undefined && hinted !== undefined && (BY_TYPE.get(mediaType)?.kind ?? 'audio') === 'audio';
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
