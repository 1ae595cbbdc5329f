/** What of an attachment in a request gives it a name. */
export interface NamedAttachment {
  url?: string;
  filename?: string;
}

/** How messages name an attachment: by position, and by file name where one was given. */
export function titleOf(input: NamedAttachment, index: number): string {
  return input.filename === undefined
    ? `attachments[${index}]`
    : `attachments[${index}] (${cleanName(input.filename)})`;
}

/** Returns the last segment of a path without control characters, because models and later downloads show it. */
export function cleanName(name: string): string {
  const last = name.split(/[/\\]/).findLast((segment) => segment.trim() !== '') ?? '';
  return last.replace(/\p{C}/gu, '').trim().slice(0, 255);
}

/** The name of the file: as given, else the last part of its address, else one made of its position. */
export function filenameOf(input: NamedAttachment, index: number, extension: string): string {
  const given = cleanName(input.filename ?? '');
  if (given !== '') return given;
  const path = input.url === undefined ? '' : (URL.parse(input.url)?.pathname ?? '');
  let fromUrl = '';
  try {
    fromUrl = cleanName(decodeURIComponent(path));
  } catch {
    // The URL has a malformed % escape, so it gives no name.
  }
  return fromUrl === '' ? `attachment-${index}.${extension}` : fromUrl;
}
