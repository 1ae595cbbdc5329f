import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  scryptSync,
  timingSafeEqual,
} from 'node:crypto';

/** Where a secret is stored. It is bound to the place: a blob that was copied to another row or workspace does not open. */
export interface SecretPlace {
  workspaceId: string;
  table: string;
  rowId: string;
  column: string;
}

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;
const MIN_PASSPHRASE = 16;

/** A secret that cannot be read: its key is not in the ring, or the blob is not the one that was stored here. */
export class SecretUnreadable extends Error {}

function keyIdOf(key: Buffer): Buffer {
  return createHash('sha256').update('guildhall key id').update(key).digest().subarray(0, KEY_ID_BYTES);
}

function additionalData({ workspaceId, table, rowId, column }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([workspaceId, table, rowId, column]));
}

/**
 * Encrypts secrets that the service must be able to read again: AES-256-GCM (NIST SP 800-38D) with a fresh nonce for each secret. The
 * first key of the ring encrypts; the others still open what was encrypted before a rotation.
 */
export class SecretBox {
  readonly #load: () => readonly Buffer[];
  #loaded: readonly { id: Buffer; key: Buffer }[] | undefined;

  /** `load` gives the ring, and is called when the first secret is sealed or opened: a service without secrets needs no key. */
  constructor(load: () => readonly Buffer[]) {
    this.#load = load;
  }

  get #keys(): readonly { id: Buffer; key: Buffer }[] {
    if (!this.#loaded) {
      const keys = this.#load();
      if (keys.length === 0 || keys.some((key) => key.length !== 32))
        throw new Error('A key ring has keys of 32 bytes.');
      this.#loaded = keys.map((key) => ({ id: keyIdOf(key), key }));
    }
    return this.#loaded;
  }

  /** Encrypts a text for one place. */
  seal(text: string, place: SecretPlace): Buffer {
    const [current] = this.#keys;
    if (!current) throw new Error('The key ring is empty.');
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', current.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(additionalData(place));
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([VERSION]), current.id, nonce, cipher.getAuthTag(), encrypted]);
  }

  /** Decrypts a blob that `seal` made for the same place. Throws SecretUnreadable. */
  open(blob: Buffer, place: SecretPlace): string {
    if (blob.length < HEADER_BYTES || blob[0] !== VERSION) throw new SecretUnreadable('This is no stored secret.');
    const id = blob.subarray(1, 1 + KEY_ID_BYTES);
    const nonce = blob.subarray(1 + KEY_ID_BYTES, 1 + KEY_ID_BYTES + NONCE_BYTES);
    const tag = blob.subarray(HEADER_BYTES - TAG_BYTES, HEADER_BYTES);
    const known = this.#keys.find((each) => each.id.equals(id));
    if (!known) {
      throw new SecretUnreadable('The secret was stored with a key that GUILDHALL_SECRETS_KEY does not have any more.');
    }
    const decipher = createDecipheriv('aes-256-gcm', known.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(additionalData(place));
    decipher.setAuthTag(tag);
    try {
      return Buffer.concat([decipher.update(blob.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SecretUnreadable('The stored secret does not belong here or was damaged.', { cause });
    }
  }

  /** Signs a text for one purpose: HMAC-SHA256 (RFC 2104) with a key of that purpose alone, which HKDF (RFC 5869) derives. */
  sign(text: string, purpose: string): Buffer {
    const [current] = this.#keys;
    if (!current) throw new Error('The key ring is empty.');
    return signatureOf(text, purpose, current.key);
  }

  /** Whether `sign` made the signature, with the present key or an earlier one of the ring. */
  isSigned(text: string, purpose: string, signature: Buffer): boolean {
    return this.#keys.some(({ key }) => {
      const expected = signatureOf(text, purpose, key);
      return expected.length === signature.length && timingSafeEqual(expected, signature);
    });
  }
}

function signatureOf(text: string, purpose: string, key: Buffer): Buffer {
  const own = Buffer.from(hkdfSync('sha256', key, '', `guildhall signature ${purpose}`, 32));
  return createHmac('sha256', own).update(text).digest();
}

/**
 * One entry of GUILDHALL_SECRETS_KEY as a key: 32 bytes as base64 or hexadecimal digits, or a passphrase of at least 16
 * characters. Throws when it is shorter.
 */
function keyOf(entry: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(entry)) return Buffer.from(entry, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(entry)) return Buffer.from(entry, 'base64');
  if (entry.length < MIN_PASSPHRASE) {
    throw new Error(
      'GUILDHALL_SECRETS_KEY must be 32 bytes as base64 or hex, or a passphrase of 16 characters or more.',
    );
  }
  return scryptSync(entry, 'guildhall secrets', 32);
}

/** The keys of GUILDHALL_SECRETS_KEY: entries separated by commas, the one that encrypts first. */
export function parseSecretKeys(text: string): Buffer[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(keyOf);
}
