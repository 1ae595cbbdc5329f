import { InvalidResponseDataError } from '@ai-sdk/provider';
import { cutText } from '../../core/text.ts';
import type { ModelSettings } from '../models/settings.ts';
import { type CallOptions, callEmbeddingModel, type EmbeddedAs, embeddingFault, type Vector } from './embeddingCall.ts';
import { CallSizes, isRefusal, isSlowAnswer, placesOf } from './embeddingSizes.ts';

/** Bounds of one call. Providers take 100 texts (Google) to 2,048, and OpenAI 300,000 tokens in all. */
const MAX_CHARS_PER_CALL = 150_000;
/** In UTF-16 units. OpenAI refuses texts of more than 8,191 tokens, and a passage has a quarter of this. */
const MAX_INPUT_CHARS = 8_000;
/** A text that the model refuses is not cut below so many bytes: every model takes them. */
const MIN_CUT_BYTES = 400;
const MAX_CONCURRENT_CALLS = 3;
const PASSAGES_TIMEOUT_MS = 60_000;
/** Short, because a user waits, and the search also works without vectors. */
const QUERY_TIMEOUT_MS = 3_000;

/** How texts are embedded. */
export interface EmbedOptions {
  /** Whose texts they are: where calls wait for each other, workspaces take turns. */
  workspaceId: string;
  signal?: AbortSignal | undefined;
  /** Asked before each call but the first; false ends the work after those that are under way. */
  goesOn?: () => boolean;
  /** Milliseconds that a call may take; for tests. */
  timeoutMs?: number;
}

/** Returns the vector of a query, without retries and with a short timeout. Throws MODEL_PROVIDER_ERROR. */
export async function embedQuery(settings: ModelSettings, query: string): Promise<Vector> {
  const call = { as: 'query' as EmbeddedAs, timeoutMs: QUERY_TIMEOUT_MS, retries: 0 };
  try {
    const [vector] = await callEmbeddingModel(settings, [presentable(query, MAX_INPUT_CHARS)], call);
    return vector as Vector;
  } catch (error) {
    throw embeddingFault(settings, error, [query]);
  }
}

/**
 * Yields the vectors of passages in their order, those of one call at a time, so that each can be kept; null for a text that the model
 * refuses while it takes others. Several calls are under way at a time, and one for a compatible server: there all callers of the process
 * take turns by workspace. A call that times out, or that the model refuses, is made again in two halves, and later calls stay
 * small (`CallSizes`). Throws MODEL_PROVIDER_ERROR (a sentence for people, without secrets) after what came before it, or the signal's
 * own reason.
 */
export async function* embedPassages(
  settings: ModelSettings,
  texts: readonly string[],
  options: EmbedOptions,
): AsyncGenerator<(Vector | null)[], void, undefined> {
  const { goesOn = () => true } = options;
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  const work = new EmbeddingWork(settings, { ...options, signal });
  const atOnce = settings.embeddings?.provider === 'openai-compatible' ? 1 : MAX_CONCURRENT_CALLS;
  const underWay: { batch: readonly string[]; vectors: Promise<(Vector | null)[]> }[] = [];
  let taken = 0;
  let length: number | undefined;
  try {
    while (taken < texts.length || underWay.length > 0) {
      while (taken < texts.length && underWay.length < atOnce && (goesOn() || taken === 0)) {
        const batch = work.nextBatch(texts, taken);
        taken += batch.length;
        const vectors = work.embed(batch);
        vectors.catch(() => {}); // it is awaited in its turn
        underWay.push({ batch, vectors });
      }
      const first = underWay.shift();
      if (!first) return;
      const vectors = await first.vectors.catch((error: unknown) => {
        if (options.signal?.aborted) throw options.signal.reason;
        throw embeddingFault(settings, error, first.batch);
      });
      length ??= vectors.find((vector) => vector !== null)?.length;
      if (vectors.some((vector) => vector !== null && vector.length !== length)) {
        const odd = new InvalidResponseDataError({ data: null, message: 'Vectors of several lengths.' });
        throw embeddingFault(settings, odd, []);
      }
      yield vectors;
    }
  } finally {
    failed.abort();
  }
}

/** Returns one bit for each dimension: 1 where the vector is positive. */
export function signsOf(vector: Vector): string {
  return vector.map((value) => (value > 0 ? '1' : '0')).join('');
}

/** Providers refuse empty texts, and some refuse blank ones. */
function presentable(text: string, maxChars: number): string {
  return cutText(text, maxChars).trim() || '-';
}

/** The beginning of a text that has so many bytes in UTF-8. */
function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return cut.trim() || '-';
}

/** The calls of one run over texts. */
class EmbeddingWork {
  readonly #settings: ModelSettings;
  readonly #options: EmbedOptions;
  readonly #sizes: CallSizes;
  /** Whether the model takes a text of which nobody can say that it is too long. Asked once, when it refuses something. */
  #takesOthers: Promise<unknown> | undefined;

  constructor(settings: ModelSettings, options: EmbedOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#sizes = CallSizes.of(settings);
  }

  /** The next texts of a call, from a place on. */
  nextBatch(texts: readonly string[], from: number): string[] {
    const batch: string[] = [];
    let characters = 0;
    for (const text of texts.slice(from, from + this.#sizes.texts)) {
      const next = presentable(text, MAX_INPUT_CHARS);
      if (batch.length > 0 && characters + next.length > MAX_CHARS_PER_CALL) break;
      batch.push(next);
      characters += next.length;
    }
    return batch;
  }

  /** Embeds texts with as few calls as the model allows. Rejects with the error of the call that failed for good. */
  async embed(texts: readonly string[]): Promise<(Vector | null)[]> {
    const sizes = this.#sizes;
    try {
      return await this.#call(texts.map((text) => cutToBytes(text, sizes.bytes)));
    } catch (error) {
      if (this.#options.signal?.aborted) throw error;
      if (isSlowAnswer(error)) {
        sizes.shrink(texts.length);
        if (texts.length === 1) throw error;
        return await this.#inHalves(texts);
      }
      if (!isRefusal(error)) throw error;
      await this.#probe(error);
      if (texts.length === 1) return [await this.#cutToFit(texts[0] ?? '')];
      const longest = sizes.bytes;
      const vectors = await this.#inHalves(texts);
      // No text of it was at fault, so it was their number.
      if (!vectors.includes(null) && sizes.bytes === longest) sizes.shrink(texts.length);
      return vectors;
    }
  }

  async #inHalves(texts: readonly string[]): Promise<(Vector | null)[]> {
    const middle = Math.ceil(texts.length / 2);
    const first = await this.embed(texts.slice(0, middle));
    return [...first, ...(await this.embed(texts.slice(middle)))];
  }

  /** A model with a short window refuses what is longer. Cuts the text by a quarter until the model takes it; null when that is not why. */
  async #cutToFit(text: string): Promise<Vector | null> {
    const usual = Math.min(Buffer.byteLength(text), this.#sizes.bytes);
    for (let bytes = Math.floor(usual * 0.75); bytes >= MIN_CUT_BYTES; bytes = Math.floor(bytes * 0.75)) {
      try {
        const [vector] = await this.#call([cutToBytes(text, bytes)]);
        this.#sizes.cutTo(bytes);
        return vector ?? null;
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    }
    return null;
  }

  /** Throws the error when the model also refuses a short text: then it is the model that fails. */
  async #probe(error: unknown): Promise<void> {
    this.#takesOthers ??= this.#call(['A short text.']);
    await this.#takesOthers.catch(() => {
      throw error;
    });
  }

  async #call(texts: readonly string[]): Promise<Vector[]> {
    const { signal, workspaceId, timeoutMs = PASSAGES_TIMEOUT_MS } = this.#options;
    const options: CallOptions = { as: 'passage', signal, timeoutMs, retries: this.#settings.retries };
    const call = async () => {
      const begun = performance.now();
      const vectors = await callEmbeddingModel(this.#settings, texts, options);
      this.#sizes.took(texts.length, performance.now() - begun);
      return vectors;
    };
    const places = placesOf(this.#settings);
    return places ? await places.run(workspaceId, call, signal) : await call();
  }
}
