import { APICallError, InvalidResponseDataError } from '@ai-sdk/provider';
import { Places } from '../../core/places.ts';
import type { ModelSettings } from '../models/settings.ts';

/** Texts of a first call. Compatible servers are often small: Text Embeddings Inference takes 32 by default. */
const [FIRST_TEXTS, FIRST_TEXTS_OF_COMPATIBLE] = [96, 32];
/**
 * A call that takes longer makes the next ones smaller: others wait for it, and a query, which waits for 3 s, gets no turn at a server that
 * works on it.
 */
const SLOW_CALL_MS = 2_000;
/** A smaller call that takes about as long as the larger one before it, in these bounds, was made smaller for nothing. */
const [LEAST_SAME_TIME, MOST_SAME_TIME] = [0.75, 1.5];
/** Then so many calls stay as large as they were before a smaller one is tried again. */
const STEADY_CALLS = 8;
/** After so many calls in a row that took less than this each, calls grow again. */
const [GROW_AFTER_CALLS, QUICK_CALL_MS] = [8, 1_000];
/** After so many calls a longer text is tried again: one text may have been refused for what stood at its end. */
const LENGTHEN_AFTER_CALLS = 64;

/** How large the calls of a model are, as learned by this process. A server on a CPU needs minutes for as many texts as others take in a second. */
export class CallSizes {
  /** Texts of a call. */
  texts: number;
  /**
   * Bytes of a text in UTF-8: a model with a short window refuses longer ones. Bytes, since a letter of Chinese is about as many tokens as
   * three of English.
   */
  bytes = Number.POSITIVE_INFINITY;
  readonly #most: number;
  #quick = 0;
  #sinceCut = 0;
  /** The slow call after which calls became smaller. */
  #slow: { texts: number; ms: number } | undefined;
  /** Slow calls that change nothing, since smaller ones are as slow. */
  #steady = 0;

  constructor(first: number) {
    this.texts = first;
    this.#most = first;
  }

  /** What is known of the model of these settings, which a process has one of. */
  static of(settings: ModelSettings): CallSizes {
    const known = learned.get(settings);
    if (known) return known;
    const isCompatible = settings.embeddings?.provider === 'openai-compatible';
    const sizes = new CallSizes(isCompatible ? FIRST_TEXTS_OF_COMPATIBLE : FIRST_TEXTS);
    learned.set(settings, sizes);
    return sizes;
  }

  /** A call of so many texts took too long, or was refused: the next ones have half as many. */
  shrink(texts: number): void {
    this.#quick = 0;
    this.#slow = undefined;
    this.#steady = 0;
    this.texts = Math.max(1, Math.min(this.texts, Math.floor(texts / 2)));
  }

  /** A call of so many texts took so long. */
  took(texts: number, ms: number): void {
    this.#sinceCut += 1;
    if (this.#sinceCut >= LENGTHEN_AFTER_CALLS) {
      this.#sinceCut = 0;
      this.bytes *= 2;
    }
    if (ms > SLOW_CALL_MS) this.#tookLong(texts, ms);
    this.#quick = ms < QUICK_CALL_MS && texts === this.texts ? this.#quick + 1 : 0;
    if (this.#quick < GROW_AFTER_CALLS) return;
    this.#quick = 0;
    this.texts = Math.min(this.#most, this.texts * 2);
  }

  /** Calls become smaller, unless that is no help: of a server far away, or behind a queue, each call takes long. */
  #tookLong(texts: number, ms: number): void {
    if (this.#steady > 0) {
      this.#steady -= 1;
      return;
    }
    const larger = this.#slow;
    const share = larger && texts < larger.texts ? ms / larger.ms : 0;
    if (larger && share > LEAST_SAME_TIME && share < MOST_SAME_TIME) {
      this.texts = larger.texts;
      this.#slow = undefined;
      this.#steady = STEADY_CALLS;
      return;
    }
    this.shrink(texts);
    this.#slow = { texts, ms };
  }

  /** A text was taken when it was cut to this length. */
  cutTo(bytes: number): void {
    this.#sinceCut = 0;
    this.bytes = Math.min(this.bytes, bytes);
  }
}

const learned = new WeakMap<ModelSettings, CallSizes>();

/** A process waits with few calls for one server, so this is never reached. */
const MAX_WAITING_CALLS = 1_000;
const ofCompatible = new WeakMap<ModelSettings, Places>();

/** The place for calls of a compatible server: one at a time, in turns by workspace. Undefined for providers that serve many at a time. */
export function placesOf(settings: ModelSettings): Places | undefined {
  if (settings.embeddings?.provider !== 'openai-compatible') return undefined;
  const places = ofCompatible.get(settings) ?? new Places({ atOnce: 1, ofOne: 1, waitingOfOne: MAX_WAITING_CALLS });
  ofCompatible.set(settings, places);
  return places;
}

/** Whether the server had too much to do within the time: a smaller call may succeed. */
export function isSlowAnswer(error: unknown): boolean {
  if (APICallError.isInstance(error) && [408, 504, 524].includes(error.statusCode ?? 0)) return true;
  for (let inner = error, depth = 0; depth < 5 && inner !== null && typeof inner === 'object'; depth += 1) {
    if ('name' in inner && inner.name === 'TimeoutError') return true;
    inner = 'cause' in inner ? inner.cause : undefined;
  }
  return false;
}

/** Whether the model refused the texts themselves, or answered with vectors that cannot be used: others may pass. */
export function isRefusal(error: unknown): boolean {
  // With 200 the answer cannot be read: some servers write NaN, which is no JSON.
  if (APICallError.isInstance(error)) return [200, 400, 413, 422, 500].includes(error.statusCode ?? 0);
  return InvalidResponseDataError.isInstance(error);
}
