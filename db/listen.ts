import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

type Subscription = { handler: (payload: string) => void; onGap: () => void };

const FIRST_DELAY_MILLIS = 100;
const LONGEST_DELAY_MILLIS = 5000;

/** LISTEN on a connection of its own, which it makes anew when it breaks. */
export class Listener {
  readonly #config: pg.ClientConfig;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  readonly #ended = new AbortController();
  #client: Promise<pg.Client> | undefined;

  constructor(config: pg.ClientConfig) {
    this.#config = config;
  }

  /**
   * Calls `handler` with the payload of every notification on `channel`, and `onGap` after a time without connection, when some may
   * have been missed. Settles when it listens.
   * @returns ends this subscription
   */
  async listen(channel: string, handler: (payload: string) => void, onGap: () => void = () => {}): Promise<() => void> {
    const subscription = { handler, onGap };
    const subscriptions = this.#subscriptions.get(channel) ?? new Set();
    this.#subscriptions.set(channel, subscriptions.add(subscription));
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined; // so that the next call tries again
      throw error;
    });
    const client = await this.#client;
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    return () => void subscriptions.delete(subscription);
  }

  async end(): Promise<void> {
    this.#ended.abort();
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    client.on('notification', ({ channel, payload }) => {
      for (const subscription of this.#subscriptions.get(channel) ?? []) subscription.handler(payload ?? '');
    });
    client.on('error', () => {}); // 'end' follows
    try {
      await client.connect();
      for (const channel of this.#subscriptions.keys())
        await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    client.once('end', () => {
      if (this.#ended.signal.aborted) return;
      this.#client = this.#reconnect();
      this.#client.catch(() => {}); // ended meanwhile
    });
    return client;
  }

  async #reconnect(): Promise<pg.Client> {
    for (let delay = FIRST_DELAY_MILLIS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MILLIS)) {
      await sleep(delay, undefined, { signal: this.#ended.signal, ref: false });
      try {
        const client = await this.#connect();
        for (const subscriptions of this.#subscriptions.values()) for (const { onGap } of subscriptions) onGap();
        return client;
      } catch {
        // the next round tries again
      }
    }
  }
}
