import { sha256 } from '../digest.ts';

/** Windows takes no file of these names, whatever its extension (Microsoft, "Naming Files, Paths, and Namespaces"). */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])$/;

/** With an extension far below the 255 bytes that file systems take. */
const MAX_BYTES = 80;

/**
 * A file or folder name made from any name: letters and digits in lower case with hyphens between, no path, no name that a system reserves.
 * Names that are not in `taken` (which holds names in lower case) get theirs without a mark; others get one that depends on the whole name.
 */
export function slugOf(name: string, taken: ReadonlySet<string>): string {
  const words =
    name
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  const slug = shortened(words.join('-'));
  if (slug !== '' && slug.length >= words.join('-').length && !RESERVED.test(slug) && !taken.has(slug)) return slug;
  const digest = sha256(name);
  for (let length = 6; ; length += 4) {
    const marked = [slug, digest.slice(0, length)].filter((part) => part !== '').join('-');
    if (!taken.has(marked)) return marked;
  }
}

function shortened(text: string): string {
  let result = '';
  for (const character of text) {
    if (Buffer.byteLength(result + character) > MAX_BYTES) break;
    result += character;
  }
  return result.replace(/-+$/, '');
}
