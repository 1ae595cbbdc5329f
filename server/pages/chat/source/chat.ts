import * as service from './service.ts';
import { type PageSession, Refused } from './service.ts';
import { timeText, translate } from './texts.ts';
import type { ChatFile, ChatMessage, Outgoing, PageConfig, PageState } from './types.ts';

/** Sent messages that are seen nowhere are forgotten after so long. */
const FORGET_MS = 10 * 60_000;
/** After the end of a reply that left no message, this long. */
const NO_ANSWER_MS = 8000;
const MAX_WAIT_MS = 30_000;

/** Everything that the page shows. */
export interface View {
  messages: readonly ChatMessage[];
  hasMore: boolean;
  outgoing: readonly Outgoing[];
  /** The reply that is being written. */
  live: { reply: string; text: string } | null;
  state: PageState | null;
  /** `lost`: the service cannot be reached. */
  connection: 'opening' | 'open' | 'lost' | 'offline';
  /** A reply ended without a message. */
  hasNoAnswer: boolean;
}

/** What the browser keeps of a chat; where it keeps nothing, it is known until the page is closed. */
class Shelf {
  readonly #prefix: string;
  readonly #own = new Map<string, string>();

  constructor(connection: string) {
    this.#prefix = `guildhall-chat:${connection}:`;
  }

  /** Whether the browser keeps anything here. In a frame of another site it may not. */
  readonly isKept: boolean = (() => {
    try {
      localStorage.setItem('guildhall-chat', '1');
      return true;
    } catch {
      return false;
    }
  })();
  /** Called with the token where the browser keeps nothing. */
  onToken: ((token: string | null) => void) | undefined;

  get(name: string): string | null {
    try {
      return localStorage.getItem(this.#prefix + name);
    } catch {
      return this.#own.get(name) ?? null;
    }
  }

  set(name: string, value: string | null): void {
    if (name === 'token' && !this.isKept) this.onToken?.(value);
    try {
      if (value === null) localStorage.removeItem(this.#prefix + name);
      else localStorage.setItem(this.#prefix + name, value);
    } catch {
      if (value === null) this.#own.delete(name);
      else this.#own.set(name, value);
    }
  }

  /** The values whose names begin so. */
  values(start: string): string[] {
    try {
      const names = Object.keys(localStorage).filter((name) => name.startsWith(this.#prefix + start));
      return names.flatMap((name) => localStorage.getItem(name) ?? []);
    } catch {
      return [...this.#own].flatMap(([name, value]) => (name.startsWith(start) ? value : []));
    }
  }
}

/**
 * The conversation of this browser: keeps what is known of it, sends what is written, and follows the stream. What is written survives a
 * reload and times without a connection; each message is sent until the server has it, with one id.
 */
export class Chat {
  view: View = {
    messages: [],
    hasMore: false,
    outgoing: [],
    live: null,
    state: null,
    connection: 'opening',
    hasNoAnswer: false,
  };
  readonly #shelf: Shelf;
  readonly #changed: (view: View) => void;
  /** Where the stream goes on. */
  #lastId = '0';
  #token = '';
  /** Ends the present stream. */
  #stream = new AbortController();
  #identity: { userId: string; hmac: string } | undefined;
  #failures = 0;
  #wake = () => {};
  #sending = false;
  #noAnswer: ReturnType<typeof setTimeout> | undefined;

  constructor({ connection }: PageConfig, changed: (view: View) => void) {
    this.#shelf = new Shelf(connection);
    this.#changed = changed;
    const kept = this.#shelf.values('out:').map((each) => JSON.parse(each) as Outgoing);
    const outgoing = kept.filter(({ at }) => at > Date.now() - FORGET_MS * 144).sort((a, b) => a.at - b.at);
    this.view = { ...this.view, outgoing };
    addEventListener('online', () => this.#reconnect());
    addEventListener('offline', () => this.#show({ connection: 'offline' }));
    document.addEventListener('visibilitychange', () => document.hidden || this.#wake());
  }

  #show(change: Partial<View>): void {
    this.view = { ...this.view, ...change };
    this.#changed(this.view);
  }

  /**
   * Where the browser keeps nothing in this frame, the embedding page keeps the token: `kept` is what it has, and `keep` hands it a new
   * one.
   */
  useToken(kept: string | null, keep: (token: string | null) => void): void {
    if (this.#shelf.isKept) return;
    this.#shelf.set('token', kept);
    this.#shelf.onToken = keep;
  }

  /** Whether the browser keeps what is known of the chat. */
  get isKept(): boolean {
    return this.#shelf.isKept;
  }

  /** Follows the conversation for ever. */
  async run(): Promise<never> {
    for (;;) {
      try {
        if (this.#token === '') await this.#open();
        this.#stream = new AbortController();
        await service.readStream(this.#token, this.#lastId, this.#stream.signal, {
          onOpen: () => {
            this.#failures = 0;
            this.#show({ connection: 'open' });
            void this.#sendAll();
          },
          onEvent: (event, id) => this.#take(event, id),
        });
      } catch (error) {
        if (error instanceof Refused && error.status === 401) {
          this.#token = '';
          this.#shelf.set('token', null);
        }
        if (!this.#stream.signal.aborted) {
          this.#failures += 1;
          this.#show({ connection: navigator.onLine ? 'lost' : 'offline' });
        }
      }
      await this.#pause();
    }
  }

  /** Waits before the next attempt: longer after each failure, and no longer than until something has changed. */
  async #pause(): Promise<void> {
    const ms = this.#failures === 0 ? 100 : Math.min(MAX_WAIT_MS, 500 * 2 ** this.#failures);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #reconnect(): void {
    this.#stream.abort();
    this.#wake();
  }

  async #open(): Promise<void> {
    const token = this.#shelf.get('token');
    const identity = this.#identity;
    const session = await service.beginSession(identity ?? (token ? { token } : {}));
    // The site may have said meanwhile who it is: then this is the session of nobody.
    if (this.#identity !== identity) return this.#open();
    this.#identity = undefined;
    this.#begin(session);
  }

  #begin({ token, messages, hasMore, state }: PageSession): void {
    this.#token = token;
    this.#shelf.set('token', token);
    this.#lastId = String(messages.at(-1)?.seq ?? 0);
    this.#show({ messages, hasMore, state, live: null });
    this.#settle(messages);
  }

  /** The site says who uses the page: the conversation is that person's from now on. */
  identify(userId: string, hmac: string): void {
    this.#identity = { userId, hmac };
    this.#token = '';
    this.#reconnect();
  }

  /** The site says that its user has left: the next one is somebody new. */
  forget(): void {
    this.#shelf.set('token', null);
    for (const { id } of this.view.outgoing) this.#shelf.set(`out:${id}`, null);
    this.#token = '';
    this.#show({ messages: [], outgoing: [], live: null, state: null });
    this.#reconnect();
  }

  #take(event: service.ChatEvent, id: string): void {
    if (id) this.#lastId = id;
    const { live } = this.view;
    switch (event.event) {
      case 'message':
        this.#add(event.data);
        return;
      case 'state':
        this.#show({ state: event.data });
        return;
      case 'reply': {
        const { reply } = event.data;
        clearTimeout(this.#noAnswer);
        const isWaiting = this.view.messages.at(-1)?.role === 'user' && !this.view.state?.isPaused;
        if (reply === null && live && isWaiting) {
          this.#noAnswer = setTimeout(() => this.#show({ hasNoAnswer: true }), NO_ANSWER_MS);
        }
        this.#show({ live: reply === null ? null : { reply, text: '' }, hasNoAnswer: false });
        return;
      }
      case 'text': {
        const { reply, at, text: piece } = event.data;
        const before = live?.reply === reply ? live.text.slice(0, at) : '';
        this.#show({ live: { reply, text: before + piece } });
        return;
      }
    }
  }

  #add(message: ChatMessage): void {
    clearTimeout(this.#noAnswer);
    const others = this.view.messages.filter(({ id }) => id !== message.id);
    const messages = [...others, message].sort((a, b) => a.seq - b.seq);
    const live = message.role === 'assistant' ? null : this.view.live;
    this.#show({ messages, live, hasNoAnswer: false });
    this.#settle([message]);
  }

  /** What is seen among the stored messages is not on its way any more. */
  #settle(stored: readonly ChatMessage[]): void {
    const seen = new Set(stored.map(({ sentAs }) => sentAs));
    const isOver = ({ id, at, isStored }: Outgoing) => seen.has(id) || (isStored && at < Date.now() - FORGET_MS);
    const outgoing = this.view.outgoing.filter((each) => !isOver(each));
    if (outgoing.length === this.view.outgoing.length) return;
    for (const each of this.view.outgoing) if (isOver(each)) this.#shelf.set(`out:${each.id}`, null);
    this.#show({ outgoing });
  }

  /** Shows earlier messages. */
  async showEarlier(): Promise<void> {
    const [first] = this.view.messages;
    if (!first) return;
    const { messages, hasMore } = await service.earlierMessages(this.#token, first.seq);
    this.#show({ messages: [...messages, ...this.view.messages], hasMore });
  }

  /** Sends a message, now or as soon as that is possible. */
  say(given: string, files: ChatFile[] = []): void {
    const message: Outgoing = { id: newId(), text: given, files, at: Date.now(), isStored: false };
    this.#keep(message);
    void this.#sendAll();
  }

  /** Tries a message again that could not be sent. */
  again({ id }: Outgoing): void {
    const found = this.view.outgoing.find((each) => each.id === id);
    if (!found) return;
    const { problem: _problem, ...message } = found;
    this.#keep(message);
    void this.#sendAll();
  }

  #keep(message: Outgoing): void {
    this.#shelf.set(`out:${message.id}`, JSON.stringify(message));
    const known = this.view.outgoing.some(({ id }) => id === message.id);
    const outgoing = known
      ? this.view.outgoing.map((each) => (each.id === message.id ? message : each))
      : [...this.view.outgoing, message];
    this.#show({ outgoing });
  }

  /** Sends what waits, one after the other: the order is that in which it was written. */
  async #sendAll(): Promise<void> {
    if (this.#sending || this.#token === '') return;
    this.#sending = true;
    try {
      for (;;) {
        const next = this.view.outgoing.find(({ isStored, problem }) => !isStored && problem === undefined);
        if (!next) return;
        await this.#send(next);
      }
    } catch (error) {
      // The next connection sends it.
      if (error instanceof Refused && error.status === 401) this.#reconnect();
    } finally {
      this.#sending = false;
    }
  }

  async #send(message: Outgoing): Promise<void> {
    const { id, text: words, files } = message;
    try {
      await service.postMessageOf(this.#token, { id, text: words, files: files.map((file) => file.id) });
    } catch (error) {
      if (!(error instanceof Refused) || error.status === 401 || error.status >= 500) throw error;
      this.#keep({ ...message, problem: problemOf(error) });
      const { until } = error;
      if (until) setTimeout(() => this.again(message), Math.min(until.getTime() - Date.now(), 2 ** 31 - 1));
      return;
    }
    // It may have come over the stream before the answer did.
    if (this.view.outgoing.some((each) => each.id === id)) this.#keep({ ...message, isStored: true });
  }

  upload(file: File): Promise<ChatFile> {
    return service.uploadFile(this.#token, file);
  }

  readFile(id: string): Promise<Blob> {
    return service.readFile(this.#token, id);
  }

  async decide(id: string, decision: 'approve' | 'reject'): Promise<void> {
    this.#show({ state: await service.decide(this.#token, id, decision) });
  }

  async askForPerson(wanted: boolean): Promise<void> {
    this.#show({ state: await service.askForPerson(this.#token, wanted) });
  }
}

/** A random UUID (RFC 9562, version 4). `crypto.randomUUID` is missing where the page is not served by https. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((each) => each.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Why a message was refused, in plain words. */
export function problemOf(error: unknown): string {
  if (error instanceof Refused && error.until) return translate('tooMany', { time: timeText(error.until) });
  return translate('notSent');
}
