import { isIP } from 'node:net';
import type { Kysely } from 'kysely';
import type { Clock } from '../../../core/clock.ts';
import { lruCache } from '../../../core/lruCache.ts';
import { findHubsByNames, type HubNameOwner } from '../../../db/queries/hubs/hubNames.ts';
import { type HubSettings, hubNameOfHost } from '../../../domain/hubs/hubUrl.ts';
import type { DB } from '../../../generated/db.ts';
import { KeyLookup } from '../../api/keyLookup.ts';

/** Host names (RFC 1123), in lower case. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;
const NAMES_REMEMBERED = 10_000;
/** The service may be reached by names that are nobody's hub, such as one of the machine. They are looked up so often. */
const NO_HUB_MS = 5_000;

/** What the host of a request says. */
export type HostReading =
  /** The service's own, or at least no hub's. */
  | { kind: 'service' }
  /** Below the hub domain: a hub's, or nobody's. */
  | { kind: 'hub'; name: string | undefined }
  /** Maybe a custom domain of a hub. */
  | { kind: 'maybe'; name: string };

/** Reads the Host header. Looks nothing up. */
export function readHost(settings: HubSettings, header: string | undefined): HostReading {
  const host = (header ?? '').toLowerCase();
  const bare = host.replace(/:\d*$/, '').replace(/\.$/, '');
  const isOwn = host === URL.parse(settings.publicUrl)?.host || bare === settings.hubDomain;
  if (isOwn || !bare.includes('.') || bare.startsWith('[') || isIP(bare) !== 0 || !NAME.test(bare))
    return { kind: 'service' };
  const name = hubNameOfHost(settings, host);
  if (settings.hubDomain !== undefined && bare.endsWith(`.${settings.hubDomain}`)) return { kind: 'hub', name };
  return name === undefined ? { kind: 'service' } : { kind: 'maybe', name };
}

/**
 * Says whose hub a name leads to. The database is asked each time, so that a name that was taken away stops working at once; only hosts that were no custom domain are
 * remembered, for some seconds. One instance a process.
 */
export class HubDirectory {
  /** Names that led to a hub before. They are not looked up behind a flood of others. */
  readonly #proven = lruCache<string, true>(NAMES_REMEMBERED);
  readonly #unknown = lruCache<string, number>(NAMES_REMEMBERED);
  readonly #provenLookup: KeyLookup<HubNameOwner>;
  readonly #lookup: KeyLookup<HubNameOwner>;
  readonly #clock: Pick<Clock, 'now'>;

  /** `keys`: see findHubsByNames. */
  constructor(keys: Kysely<DB>, clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    const find = (names: readonly Buffer[]) => findHubsByNames(keys, names.map(String));
    const keyOf = ({ name }: HubNameOwner) => Buffer.from(name);
    this.#provenLookup = new KeyLookup(find, keyOf);
    this.#lookup = new KeyLookup(find, keyOf);
  }

  /** The owner of a name; undefined when it leads nowhere. Throws UNAVAILABLE when too many others wait, and errors of the database. */
  async ownerOf(name: string, kind: HubNameOwner['kind']): Promise<HubNameOwner | undefined> {
    if (!NAME.test(name)) return undefined;
    const now = this.#clock.now().getTime();
    if ((this.#unknown.get(name) ?? 0) > now) return undefined;
    const key = Buffer.from(name);
    const owner = await (this.#proven.has(name) ? this.#provenLookup : this.#lookup).ownerOf(
      key,
      key.toString('base64'),
    );
    if (owner) this.#proven.set(name, true);
    else {
      this.#proven.delete(name);
      if (kind === 'domain') this.#unknown.set(name, now + NO_HUB_MS);
    }
    return owner?.kind === kind ? owner : undefined;
  }
}
