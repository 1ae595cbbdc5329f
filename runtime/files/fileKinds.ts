/** How a knowledge source is read. */
export type SourceKind = 'pdf' | 'docx' | 'csv' | 'markdown' | 'text';

/** A kind of file that the service accepts, as an attachment of a message or as a knowledge source. */
export interface FileKind {
  /** As people call it. */
  name: string;
  mediaType: string;
  /** Other media types that senders write. */
  aliases: readonly string[];
  /** Lower case, the usual one first. */
  extensions: readonly string[];
  /** How models receive it; audio as its transcript. Null: not accepted as an attachment. */
  attachment: 'image' | 'document' | 'audio' | null;
  /** Null: not accepted as a knowledge source. */
  source: SourceKind | null;
}

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const image = (name: string, mediaType: string, extension: string, aliases: readonly string[] = []): FileKind => ({
  name,
  mediaType,
  aliases,
  extensions: [extension],
  attachment: 'image',
  source: null,
});
const audio = (name: string, mediaType: string, aliases: readonly string[] = []): FileKind => ({
  name,
  mediaType,
  aliases,
  extensions: [name.toLowerCase()],
  attachment: 'audio',
  source: null,
});

/** Every kind of file that the service accepts. */
export const FILE_KINDS: readonly FileKind[] = [
  image('PNG', 'image/png', 'png', ['image/x-png', 'image/apng']),
  image('JPEG', 'image/jpeg', 'jpg', ['image/jpg', 'image/pjpeg']),
  image('WebP', 'image/webp', 'webp'),
  image('GIF', 'image/gif', 'gif'),
  {
    name: 'PDF',
    mediaType: 'application/pdf',
    aliases: ['application/x-pdf'],
    extensions: ['pdf'],
    attachment: 'document',
    source: 'pdf',
  },
  { name: 'DOCX', mediaType: DOCX, aliases: [], extensions: ['docx'], attachment: null, source: 'docx' },
  {
    name: 'plain text',
    mediaType: 'text/plain',
    aliases: [],
    extensions: ['txt', 'text', 'log'],
    attachment: 'document',
    source: 'text',
  },
  {
    name: 'CSV',
    mediaType: 'text/csv',
    aliases: ['application/csv', 'text/x-csv'],
    extensions: ['csv'],
    attachment: 'document',
    source: 'csv',
  },
  {
    name: 'Markdown',
    mediaType: 'text/markdown',
    aliases: ['text/x-markdown'],
    extensions: ['md', 'markdown'],
    attachment: 'document',
    source: 'markdown',
  },
  audio('MP3', 'audio/mpeg', ['audio/mp3']),
  audio('WAV', 'audio/wav', ['audio/x-wav', 'audio/wave', 'audio/vnd.wave']),
  audio('OGG', 'audio/ogg', ['audio/opus', 'application/ogg']),
  audio('WebM', 'audio/webm'),
  audio('M4A', 'audio/mp4', ['audio/m4a', 'audio/x-m4a']),
  audio('FLAC', 'audio/flac', ['audio/x-flac']),
];

const USUAL_TYPES: ReadonlyMap<string, string> = new Map(
  FILE_KINDS.flatMap(({ mediaType, aliases }) => aliases.map((alias) => [alias, mediaType])),
);
/** Types that senders write when they do not know the type. */
const UNDECLARED: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

/** Returns a media type in lower case, without parameters, under its usual name. */
export function plainType(mediaType: string): string {
  const bare = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return USUAL_TYPES.get(bare) ?? bare;
}

/** Whether a media type names a type, and not just unknown content. */
export function isDeclared(mediaType: string | undefined): mediaType is string {
  return mediaType !== undefined && !UNDECLARED.has(plainType(mediaType));
}

/** Returns the extension of a file name in lower case, without the dot; undefined when it has none. */
export function extensionOf(filename: string): string | undefined {
  return /\.([^.\\/]+)$/.exec(filename)?.[1]?.toLowerCase();
}

const list = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Names kinds in a sentence: `PDF, CSV or Markdown`. */
export function namesOf(kinds: readonly FileKind[]): string {
  return list.format(kinds.map(({ name }) => name));
}
