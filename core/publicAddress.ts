import { createHash, randomBytes } from 'node:crypto';

/** The length of the secret of an address in bytes: 160 random bits. */
const SECRET_BYTES = 20;

/** A new secret for an address that nobody can guess: 40 hexadecimal digits. */
export function newAddressSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

/** What is stored of an address (a secret, or the id of a channel connection), and by what it is found. */
export function addressHash(address: string): Buffer {
  return createHash('sha256').update(address).digest();
}
