import type { KeptAnswer } from '../../../db/queries/workspaces/idempotencyKeys.ts';
import type { StreamEvent } from '../../../handlers/handler.ts';

/** The first event of a stream; later ones of its name say the same. */
const BEGINNING = 'conversation-id';
const TEXT = 'text-delta';

/** What follows a stream. */
export interface StreamFollower {
  /** The answer is a stream: from here on errors are events. */
  opened(): void;
  event(event: StreamEvent): void;
}

/**
 * A request with an Idempotency-Key that this process handles, or waits for while another process does. All requests with the key follow
 * it, the first one too: they get its answer, or its stream as it comes.
 */
export class Attempt {
  readonly requestHash: Buffer;
  /** The answer, or the error without one. Undefined: the answer was a stream, and all of it was sent. */
  readonly outcome: Promise<KeptAnswer | undefined>;
  #isOpen = false;
  #beginning: StreamEvent | undefined;
  #text = '';
  #rest: StreamEvent[] = [];
  readonly #followers = new Set<StreamFollower>();

  /** `work` makes the answer. */
  constructor(requestHash: Buffer, work: (attempt: Attempt) => Promise<KeptAnswer | undefined>) {
    this.requestHash = requestHash;
    this.outcome = work(this);
    // It has followers only later.
    this.outcome.catch(() => {});
  }

  /** Whether the stream has begun. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Begins the stream. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    for (const follower of this.#followers) follower.opened();
  }

  /** Sends an event to all that follow. Text is kept as a whole, for those who come later. */
  send(event: StreamEvent): void {
    const [name, data] = event;
    if (name === BEGINNING) {
      if (this.#beginning) return;
      this.#beginning = event;
    } else if (name === TEXT) {
      this.#text += data.text;
    } else {
      this.#rest.push(event);
    }
    for (const follower of this.#followers) follower.event(event);
  }

  /** Sends the events of a stream that is over. */
  replay(events: readonly StreamEvent[]): void {
    this.open();
    for (const event of events) this.send(event);
  }

  /** The events so far that an error leaves behind: where the reply was going. */
  get begun(): StreamEvent[] {
    return this.#beginning ? [this.#beginning] : [];
  }

  /** Follows the stream from its beginning, until the returned function is called. */
  follow(follower: StreamFollower): () => void {
    if (this.#isOpen) follower.opened();
    const text: StreamEvent[] = this.#text === '' ? [] : [[TEXT, { text: this.#text }]];
    for (const event of [...this.begun, ...text, ...this.#rest]) follower.event(event);
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }
}
