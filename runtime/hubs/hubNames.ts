import type { Kysely } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import {
  findHubByName,
  findHubName,
  type HubNameOwner,
  type HubNameRow,
  removeHubName,
} from '../../db/queries/hubs/hubNames.ts';
import type { DB } from '../../generated/db.ts';

/** Milliseconds for which nobody else gets a name that a hub gave up: visitors and links still expect that hub there. */
export const RELEASED_NAME_MS = 30 * 24 * 60 * 60 * 1000;

/** The names of the hubs of all workspaces: visitors name a host, and workspaces must not take the same name. */
export class HubNames {
  readonly #keys: Kysely<DB>;
  readonly #clock: Pick<Clock, 'now'>;

  /** `keys` sees all workspaces, and gives up after some seconds. */
  constructor(keys: Kysely<DB>, clock: Pick<Clock, 'now'>) {
    this.#keys = keys;
    this.#clock = clock;
  }

  /** Whose hub a name leads to: a subdomain, or a custom domain that is verified. Undefined when it leads nowhere. */
  owner(name: string): Promise<HubNameOwner | undefined> {
    return findHubByName(this.#keys, name);
  }

  /** The row that blocks a name; undefined when the name is free. A name that was given up 30 days ago is free from here on. */
  async blocker(name: string): Promise<HubNameRow | undefined> {
    const row = await findHubName(this.#keys, name);
    if (!row?.released_at) return row;
    const before = new Date(this.#clock.now().getTime() - RELEASED_NAME_MS);
    if (row.released_at > before) return row;
    await removeHubName(this.#keys, name, before);
    return undefined;
  }
}
