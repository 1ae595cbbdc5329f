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
  /** `public`: caches that many people share may keep it, too. */
  cache: 'public' | 'private';
}

/** How a file is served to the public. */
export interface PublicFile {
  mediaType: string;
  filename: string;
  /** `attachment`: a browser that opens it by itself stores it. In a page it is shown all the same. */
  disposition: 'inline' | 'attachment';
  cache: 'public' | 'private';
}

/** The logos of a hub. */
export const LOGO_TYPES = ['horizontal', 'icon', 'email', 'banner'] as const;

/** One of the logos of a hub. */
export type LogoType = (typeof LOGO_TYPES)[number];

/** What a logo can be, as the extension of its key. */
export type PictureExtension = 'png' | 'jpg' | 'webp' | 'svg';

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
    // Shared caches keep no conversations.
    cache: 'private',
  },
  {
    key: new RegExp(`^${UUID_PATTERN}/hub/(?:${LOGO_TYPES.join('|')})-[A-Za-z0-9_-]{32}\\.([a-z]{3,4})$`),
    filename: 'logo',
    mediaTypes: {
      png: 'image/png',
      jpg: 'image/jpeg',
      webp: 'image/webp',
      svg: 'image/svg+xml',
    } satisfies Record<PictureExtension, string>,
    cache: 'public',
  },
];

/** The key of a spoken reply. `random` is 32 characters of base64url. */
export function speechKey(workspaceId: string, random: string, extension: string): string {
  return `${workspaceId}/speech/${random}.${extension}`;
}

/** The key of a logo. `random` is 32 characters of base64url: each upload has a key of its own, so that caches never show the earlier one. */
export function logoKey(workspaceId: string, type: LogoType, random: string, extension: PictureExtension): string {
  return `${workspaceId}/hub/${type}-${random}.${extension}`;
}

/** Returns how the file under a key is served to the public; undefined when the key is not public. */
export function publicFile(key: string): PublicFile | undefined {
  for (const { key: pattern, filename, mediaTypes, cache } of PUBLIC_KINDS) {
    const extension = pattern.exec(key)?.[1] ?? '';
    const mediaType = Object.hasOwn(mediaTypes, extension) ? mediaTypes[extension] : undefined;
    if (mediaType === undefined) continue;
    // SVG is a document, with scripts and links: never opened as a page of this origin.
    const disposition = mediaType === 'image/svg+xml' ? 'attachment' : 'inline';
    return { mediaType, filename: `${filename}.${extension}`, disposition, cache };
  }
  return undefined;
}

/** Returns the public address of the file under a key. `publicUrl` is the service's own address, without a slash at its end. */
export function publicFileUrl(publicUrl: string, key: string): string {
  return `${publicUrl}/files/${key}`;
}
