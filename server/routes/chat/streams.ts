import type { Logger } from 'pino';
import type { Clock } from '../../../core/clock.ts';
import type { Database } from '../../../db/connect.ts';
import { chatChanged, subscribe } from '../../../db/events.ts';
import { type ChatState, type FollowedChat, findChatStates } from '../../../db/queries/channels/chatStates.ts';
import { tooMany } from './limits.ts';

/** While a reply is written the streams of a process look for its text so often, in milliseconds. */
const LIVE_LOOK_MS = 250;
/** Without news a stream looks so often: what no notification tells of is seen then. */
const QUIET_LOOK_MS = 2000;
/** Conversations that one statement reads. */
const AT_ONCE = 500;
/** Streams at a time in one process. */
const MAX_STREAMS = { visitor: 8, address: 200, connection: 2000, all: 5000 };
/** A client that was refused tries again after so many seconds. */
const FULL_SECONDS = 10;

/** What a stream is told. Called one after the other. */
export interface ChatListener {
  /** There are messages after those that the stream has. Returns the number of the newest that was sent. */
  messages(state: ChatState): Promise<number>;
  /** A piece of the reply that is being written. */
  text(replyId: string, at: number, text: string): void;
  /** A reply begins, or none is being written any more. */
  reply(replyId: string | null): void;
  /** The conversation is not in the state that the stream was told of. */
  state(state: ChatState | undefined): Promise<void>;
  /** The stream ends; its client shall come again. */
  end(): void;
}

/** Where a stream begins. */
export interface StreamPlace extends FollowedChat {
  /** The newest message that the client has; 0 = none. */
  lastSeq: number;
  address: string;
}

interface Follower extends StreamPlace {
  listener: ChatListener;
  conversationId: string | null;
  /** What the stream was last told of the state. */
  told: string | null;
  lookedAt: number;
  /** Whether it shall look at the next opportunity. */
  due: boolean;
  /** While what was found is sent. */
  busy: boolean;
}

/**
 * Follows the conversations of all open chat pages of this process. However many there are, they are read by one statement at a time:
 * four times a second those in which a reply is written, every two seconds all, and at once where a notification says that there is
 * something new. Without streams it does nothing.
 */
export class ChatStreams {
  readonly #database: Pick<Database, 'system' | 'listen'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #logger: Logger;
  readonly #followers = new Set<Follower>();
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #ended = false;

  constructor({
    database,
    clock,
    logger,
  }: { database: Pick<Database, 'system' | 'listen'>; clock: Pick<Clock, 'now'>; logger: Logger }) {
    this.#database = database;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Begins to hear what other processes tell. Returns the function that ends it. */
  async listen(): Promise<() => void> {
    return await subscribe(this.#database, chatChanged, {
      received: ({ workspaceId, conversationId }) => {
        for (const each of this.#followers) {
          // A stream without a conversation waits for its first one.
          const concerned = each.conversationId === conversationId || each.conversationId === null;
          if (each.workspaceId === workspaceId && concerned) each.due = true;
        }
        this.#soon();
      },
      missed: () => this.#wakeAll(),
      logger: this.#logger,
    });
  }

  /** Follows the conversation of a visitor until the returned function is called. Throws RATE_LIMITED when there are too many streams. */
  follow(place: StreamPlace, listener: ChatListener): () => void {
    const { connectionId, visitor, address } = place;
    const keys: [string, number][] = [
      [`visitor ${connectionId} ${visitor}`, MAX_STREAMS.visitor],
      [`address ${address}`, MAX_STREAMS.address],
      [`connection ${connectionId}`, MAX_STREAMS.connection],
      ['all', MAX_STREAMS.all],
    ];
    if (this.#ended || keys.some(([key, limit]) => (this.#counts.get(key) ?? 0) >= limit)) throw tooMany(FULL_SECONDS);
    for (const [key] of keys) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    const state = { conversationId: null, told: null, lookedAt: 0, due: true, busy: false };
    const follower: Follower = { ...place, listener, ...state };
    this.#followers.add(follower);
    this.#soon();
    return () => {
      if (!this.#followers.delete(follower)) return;
      for (const [key] of keys) {
        const left = (this.#counts.get(key) ?? 0) - 1;
        if (left > 0) this.#counts.set(key, left);
        else this.#counts.delete(key);
      }
    };
  }

  /** The visitor did something that the streams of this process shall see now. */
  wake(connectionId: string, visitor: string): void {
    for (const each of this.#followers)
      if (each.connectionId === connectionId && each.visitor === visitor) each.due = true;
    this.#soon();
  }

  /** Ends all streams, and takes no more: their clients come again, to another process. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    for (const { listener } of this.#followers) listener.end();
  }

  #wakeAll(): void {
    for (const each of this.#followers) each.due = true;
    this.#soon();
  }

  #soon(): void {
    this.#schedule(0);
  }

  #schedule(ms: number): void {
    if (this.#looking || this.#ended) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    try {
      const now = performance.now();
      const asked = [...this.#followers].filter(
        (each) =>
          !each.busy && (each.due || now - each.lookedAt >= (each.replyId === null ? QUIET_LOOK_MS : LIVE_LOOK_MS)),
      );
      for (let at = 0; at < asked.length; at += AT_ONCE) await this.#read(asked.slice(at, at + AT_ONCE));
    } catch (error) {
      this.#logger.warn({ err: error }, 'the conversations of chat pages could not be read');
    } finally {
      this.#looking = false;
    }
    if (this.#followers.size === 0) return;
    const due = [...this.#followers].some((each) => each.due && !each.busy);
    this.#schedule(due ? 20 : LIVE_LOOK_MS);
  }

  async #read(asked: Follower[]): Promise<void> {
    const startedAt = performance.now();
    for (const each of asked) {
      each.due = false;
      each.lookedAt = startedAt;
    }
    const states = await findChatStates(this.#database.system, asked);
    for (const [index, follower] of asked.entries()) {
      follower.busy = true;
      void this.#tell(follower, states[index])
        .catch((error: unknown) => {
          this.#logger.warn({ err: error, connectionId: follower.connectionId }, 'a chat stream was ended by a fault');
          follower.listener.end();
        })
        .finally(() => {
          follower.busy = false;
          if (follower.due) this.#soon();
        });
    }
  }

  /** Tells a stream what it does not know yet. */
  async #tell(follower: Follower, state: ChatState | undefined): Promise<void> {
    const { listener } = follower;
    follower.conversationId = state?.conversationId ?? null;
    if (state && state.lastSeq > follower.lastSeq) {
      const sent = await listener.messages(state);
      // As many as were left over come with the next look.
      follower.due = sent > follower.lastSeq && sent < state.lastSeq;
      follower.lastSeq = Math.max(sent, follower.lastSeq);
    }
    const replyId = state?.replyId ?? null;
    if (replyId !== follower.replyId) {
      follower.offset = 0;
      follower.replyId = replyId;
      listener.reply(replyId);
    }
    for (const { at, text } of state?.pieces ?? []) {
      listener.text(follower.replyId ?? '', at, text);
      follower.offset = at + text.length;
    }
    const told = state
      ? JSON.stringify([
          state.conversationId,
          state.isEnded,
          state.failure,
          state.waitingCalls,
          state.isPaused && (state.pausedUntil === null || state.pausedUntil > this.#clock.now()),
        ])
      : '';
    if (told === follower.told) return;
    follower.told = told;
    await listener.state(state);
  }
}
