import { createHash } from 'node:crypto';
import type { JsonValue } from './json.ts';
import type { Entry } from './kind.ts';

/** SHA-256 in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The same for equal entries, whatever the order of their fields. Contents that are not known count as such. */
export function digestOfEntry({ kind, name, fields, files }: Entry): string {
  const contents = Object.entries(files).map(([path, { sha256: digest }]) => [path, digest ?? '']);
  return sha256(canonicalJson([kind, name, fields, contents.sort() as JsonValue]));
}

/** JSON with the fields of every object sorted. */
export function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_name, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([left], [right]) => (left < right ? -1 : 1)))
      : each,
  );
}
