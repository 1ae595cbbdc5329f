import { UUID_PATTERN } from '../../core/ids.ts';

/**
 * A kind of stored file that is public to everybody who has its address. Its keys are made here and have 192 random bits: the address
 * is the permission.
 */
interface PublicKind {
  key: RegExp;
  /** The file name for downloads, without its extension. */
  filename: string;
  mediaTypes: Readonly<Record<string, string>>;
}

/** Every kind of file that is served without an API key. No other file is served. */
const PUBLIC_KINDS: readonly PublicKind[] = [
  {
    key: new RegExp(`^${UUID_PATTERN}/speech/[A-Za-z0-9_-]{32}\\.([a-z0-9]{2,4})$`),
    filename: 'speech',
    mediaTypes: {
      mp3: 'audio/mpeg',
      wav: 'audio/wav',
      ogg: 'audio/ogg',
      webm: 'audio/webm',
      m4a: 'audio/mp4',
      flac: 'audio/flac',
    },
  },
];

/** The key of a spoken reply. `random` is 32 characters of base64url. */
export function speechKey(workspaceId: string, random: string, extension: string): string {
  return `${workspaceId}/speech/${random}.${extension}`;
}

/** Returns how the file under a key is served to the public; undefined when the key is not public. */
export function publicFile(key: string): { mediaType: string; filename: string } | undefined {
  for (const { key: pattern, filename, mediaTypes } of PUBLIC_KINDS) {
    const extension = pattern.exec(key)?.[1] ?? '';
    const mediaType = Object.hasOwn(mediaTypes, extension) ? mediaTypes[extension] : undefined;
    if (mediaType !== undefined) return { mediaType, filename: `${filename}.${extension}` };
  }
  return undefined;
}

/** Returns the public address of the file under a key. `publicUrl` is the service's own address, without a slash at its end. */
export function publicFileUrl(publicUrl: string, key: string): string {
  return `${publicUrl}/files/${key}`;
}
