import type { Kysely } from 'kysely';
import {
  findKeyProgress,
  type KeyedRequest,
  type KeyProgress,
} from '../../../db/queries/workspaces/idempotencyKeys.ts';
import type { DB } from '../../../generated/db.ts';

const LOOK_MS = 250;

type Key = Pick<KeyedRequest, 'workspaceId' | 'keyHash'>;

interface Look {
  key: Key;
  resolve(progress: KeyProgress | undefined): void;
  reject(error: unknown): void;
}

/**
 * Looks at the requests that other processes handle. However many wait for them, of whatever workspace, it is one statement at a time, at most four
 * times a second.
 */
export class ProgressReader {
  readonly #system: Kysely<DB>;
  #looks: Look[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(system: Kysely<DB>) {
    this.#system = system;
  }

  /** How far the request is, a moment from now; undefined when nothing is stored under its key. */
  next(key: Key): Promise<KeyProgress | undefined> {
    return new Promise((resolve, reject) => {
      this.#looks.push({ key, resolve, reject });
      this.#timer ??= setTimeout(() => void this.#look(), LOOK_MS);
    });
  }

  async #look(): Promise<void> {
    const looks = this.#looks.splice(0);
    try {
      const found = await findKeyProgress(
        this.#system,
        looks.map(({ key }) => key),
      );
      for (const [index, { resolve }] of looks.entries()) resolve(found[index]);
    } catch (error) {
      for (const { reject } of looks) reject(error);
    }
    this.#timer = this.#looks.length > 0 ? setTimeout(() => void this.#look(), LOOK_MS) : undefined;
  }
}
