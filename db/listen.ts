import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** A listener of one channel, as `Listener.listen` takes it. */
type Subscription = { handler: (payload: string) => void; onGap: () => void };

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2000;
/** How often the connection is tried out; the watch closes it when the server does not answer. */
const HEARTBEAT_MS = 5000;

/** Asks nothing, which costs the server no transaction, and is answered. */
const heartbeat: pg.Submittable & Record<'handleReadyForQuery' | 'handleError', () => void> = {
  submit: (connection) => connection.sync(),
  handleReadyForQuery: () => {},
  handleError: () => {}, // 'end' follows.
};

/** Listens for notifications on a connection of its own, and reconnects when that is lost. */
export class Listener {
  readonly #config: pg.ClientConfig;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  readonly #ended = new AbortController();
  readonly #Client: typeof pg.Client;
  #client: Promise<pg.Client> | undefined;

  /** `Client` is the class of a client that gives up when the server falls silent. */
  constructor(config: pg.ClientConfig, Client: typeof pg.Client) {
    this.#config = config;
    this.#Client = Client;
  }

  /**
   * Calls `handler` with the text of every notification on `channel`, and `onGap` after the connection was lost for a time, since
   * notifications may have been missed. Settles when the database listens. Calls must not overlap.
   * @returns a function that ends the subscription
   */
  async listen(channel: string, handler: (payload: string) => void, onGap: () => void = () => {}): Promise<() => void> {
    const subscription = { handler, onGap };
    const subscriptions = this.#subscriptions.get(channel) ?? new Set();
    this.#subscriptions.set(channel, subscriptions.add(subscription));
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined; // The next call tries again.
      throw error;
    });
    const client = await this.#client;
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    return () => void subscriptions.delete(subscription);
  }

  /** Closes the connection; nothing is received any more. */
  async end(): Promise<void> {
    this.#ended.abort();
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<pg.Client> {
    const client = new this.#Client(this.#config);
    client.on('notification', ({ channel, payload }) => {
      for (const subscription of this.#subscriptions.get(channel) ?? []) subscription.handler(payload ?? '');
    });
    client.on('error', () => {}); // 'end' follows.
    try {
      await client.connect();
      for (const channel of this.#subscriptions.keys())
        await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    const beat = setInterval(() => client.query(heartbeat), HEARTBEAT_MS).unref();
    client.once('end', () => {
      clearInterval(beat);
      if (this.#ended.signal.aborted) return;
      this.#client = this.#reconnect();
      this.#client.catch(() => {}); // It ended in the meantime.
    });
    return client;
  }

  async #reconnect(): Promise<pg.Client> {
    for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, MAX_DELAY_MS)) {
      await sleep(delay, undefined, { signal: this.#ended.signal, ref: false });
      try {
        const client = await this.#connect();
        for (const subscriptions of this.#subscriptions.values()) for (const { onGap } of subscriptions) onGap();
        return client;
      } catch {
        // The next round tries again.
      }
    }
  }
}
