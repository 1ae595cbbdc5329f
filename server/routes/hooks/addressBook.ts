import type { Kysely } from 'kysely';
import type { Clock } from '../../../core/clock.ts';
import { isUuid } from '../../../core/ids.ts';
import { lruCache } from '../../../core/lruCache.ts';
import { addressHash } from '../../../core/publicAddress.ts';
import { type AddressOwner, findPublicAddresses } from '../../../db/queries/workspaces/publicAddresses.ts';
import type { DB } from '../../../generated/db.ts';
import { KeyLookup } from '../../api/keyLookup.ts';

/** A secret of core/publicAddress.ts. The id of a channel connection is the other form of an address. */
const SECRET = /^[0-9a-f]{40}$/;
const ADDRESSES_REMEMBERED = 10_000;

/**
 * Says whose address this is. The database is asked each time, so that an address that was taken away stops working at once. One
 * instance a process.
 */
export class AddressBook {
  /** Addresses that existed before. They are not looked up behind a flood of others. */
  readonly #proven = lruCache<string, true>(ADDRESSES_REMEMBERED);
  readonly #provenLookup: KeyLookup<AddressOwner>;
  readonly #lookup: KeyLookup<AddressOwner>;

  /** `keys`: see findPublicAddresses. */
  constructor(keys: Kysely<DB>, clock: Pick<Clock, 'now'>) {
    const find = (hashes: readonly Buffer[]) => findPublicAddresses(keys, hashes, clock.now());
    const hashOf = (owner: AddressOwner) => owner.address_hash;
    this.#provenLookup = new KeyLookup(find, hashOf);
    this.#lookup = new KeyLookup(find, hashOf);
  }

  /**
   * The owner of an address of this kind; undefined when there is none. Throws UNAVAILABLE when too many others wait, and errors of the
   * database.
   */
  async ownerOf(kind: AddressOwner['kind'], address: string): Promise<AddressOwner | undefined> {
    if (!SECRET.test(address) && !isUuid(address)) return undefined;
    const hash = addressHash(address);
    const id = hash.toString('base64');
    const owner = await (this.#proven.has(id) ? this.#provenLookup : this.#lookup).ownerOf(hash, id);
    if (owner) this.#proven.set(id, true);
    else this.#proven.delete(id);
    return owner?.kind === kind ? owner : undefined;
  }
}
