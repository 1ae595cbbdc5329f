import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'gsk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const LENGTH = PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH;

/** A new API key: `gsk_`, 34 random base62 characters (202 bits), and their CRC-32 in six more. */
export function mintApiKey(): string {
  const random = randomBase62(RANDOM_LENGTH);
  return `${PREFIX}${random}${checksum(random)}`;
}

/** Whether `key` has the prefix and the length of a key. */
export function isApiKeyFormat(key: string): boolean {
  return key.startsWith(PREFIX) && key.length === LENGTH;
}

/** Whether `key`, of the right format, ends in its checksum. A mistyped key does not, and so never reaches the database. */
export function hasApiKeyChecksum(key: string): boolean {
  const random = key.slice(PREFIX.length, -CHECKSUM_LENGTH);
  return checksum(random) === key.slice(-CHECKSUM_LENGTH);
}

/** SHA-256 of the key, the only form in which it is stored. A random key needs no slow hash. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** The key in the form that lists may show: `gsk_3f…x9Qd`. */
export function displayApiKey(key: string): string {
  return `${key.slice(0, PREFIX.length + 2)}…${key.slice(-4)}`;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 = 4 * 62: higher bytes would favour the first characters.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
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
