import { createParser } from 'eventsource-parser';

/** An event of a stream. */
export type Event = { event: string; data: Record<string, unknown> };

/** One stream, read event by event. */
export class Stream {
  readonly response: Response;
  readonly #events: Event[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ event = '', data }) => void this.#events.push({ event, data: JSON.parse(data) }),
  });

  constructor(response: Response) {
    this.response = response;
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
  }

  /** The next event, as soon as it arrives; undefined at the end. */
  async next(): Promise<Event | undefined> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return event;
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    }
  }

  /** All that are left. */
  async rest(): Promise<Event[]> {
    const events: Event[] = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }
}
