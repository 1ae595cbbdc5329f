import { crc32 } from 'node:zlib';

const PREFIX = 'gsk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const LENGTH = PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH;

/**
 * What is wrong with the form of a key, as a sentence; undefined when nothing is. Keys are `gsk_`, 34 random base62 characters and their
 * CRC-32 in six more, as the service makes them, so a key that lost or changed a character is noticed before it is sent.
 */
export function keyFault(key: string): string | undefined {
  if (!key.startsWith(PREFIX)) return `A key begins with ${PREFIX}, and this one does not.`;
  if (key.length !== LENGTH) return `A key has ${LENGTH} characters, and this one has ${key.length}.`;
  if (!/^[0-9A-Za-z]+$/.test(key.slice(PREFIX.length)))
    return `After ${PREFIX} a key has letters and digits only, and this one has something else.`;
  if (checksum(key.slice(PREFIX.length, -CHECKSUM_LENGTH)) !== key.slice(-CHECKSUM_LENGTH))
    return 'The last characters of the key do not match the others: a character is wrong.';
  return undefined;
}

/** The key in the form that people may see, as the service's own lists show it: `gsk_3f…x9Qd`. */
export function shortKey(key: string): string {
  return `${key.slice(0, PREFIX.length + 2)}…${key.slice(-4)}`;
}

/**
 * The one key in a text that came from a file or an editor: without a byte order mark, line ends (also those of Windows) and spaces
 * around it. Undefined when there is nothing, or more than one word.
 */
export function keyInText(text: string): string | undefined {
  const words = text
    .replace(/^\uFEFF/, '')
    .trim()
    .split(/\s+/);
  return words.length === 1 && words[0] ? words[0] : undefined;
}

function checksum(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
