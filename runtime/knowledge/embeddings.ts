import { type EmbeddingModelV4, InvalidResponseDataError } from '@ai-sdk/provider';
import { cutText } from '../../core/text.ts';
import { modelFault } from '../models/errors.ts';
import { baseUrlOf } from '../models/providers.ts';
import { withRetries } from '../models/retry.ts';
import type { EmbeddingModelName, ModelSettings } from '../models/settings.ts';
import { modelFetch } from '../models/transport.ts';

/** The embedding of a text. Its length is 1, so that the cosine of two vectors is their dot product. */
export type Vector = readonly number[];

/** Bounds of one call. Providers take 100 texts (Google) to 2,048, and OpenAI 300,000 tokens in all. */
const MAX_TEXTS_PER_CALL = 96;
const MAX_CHARS_PER_CALL = 150_000;
/** In UTF-16 units. OpenAI refuses texts of more than 8,191 tokens, and a passage has a quarter of this. */
const MAX_INPUT_CHARS = 8_000;
const MAX_CONCURRENT_CALLS = 3;
const PASSAGES_TIMEOUT_MS = 60_000;
/** Short, because a user waits, and the search also works without vectors. */
const QUERY_TIMEOUT_MS = 3_000;
const MAX_DIMENSIONS = 16_000;

/** The name under which vectors of a model are stored. */
export function embeddingModelKey({ provider, modelId }: EmbeddingModelName): string {
  return `${provider}/${modelId}`;
}

/**
 * Returns the vectors of texts in the same order, from the configured model. Throws MODEL_PROVIDER_ERROR (a sentence for people,
 * without secrets) or the signal's own reason.
 */
export async function embedTexts(
  settings: ModelSettings,
  texts: readonly string[],
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Vector[]> {
  const batches = batchesOf(texts.map(presentable));
  const found = new Map<number, Vector[]>();
  const queue = batches.entries();
  // When one call fails for good, the others are aborted.
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  const work = async () => {
    for (const [index, batch] of queue) {
      const call = { signal, timeoutMs: PASSAGES_TIMEOUT_MS, retries: settings.retries };
      found.set(index, await embed(settings, batch, call));
    }
  };
  const workers = Array.from({ length: Math.min(MAX_CONCURRENT_CALLS, batches.length) }, work);
  await Promise.all(workers).catch((error: unknown) => {
    failed.abort();
    throw error;
  });
  const vectors = batches.flatMap((_, index) => found.get(index) ?? []);
  const odd = vectors.find(({ length }) => length !== vectors[0]?.length);
  if (odd)
    throw faultOf(settings, new InvalidResponseDataError({ data: null, message: 'Vectors of several lengths.' }), []);
  return vectors;
}

/** Returns the vector of a query, without retries and with a short timeout. Throws like `embedTexts`. */
export async function embedQuery(settings: ModelSettings, query: string): Promise<Vector> {
  const [vector] = await embed(settings, [presentable(query)], { timeoutMs: QUERY_TIMEOUT_MS, retries: 0 });
  return vector as Vector;
}

/** Returns one bit for each dimension: 1 where the vector is positive. */
export function signsOf(vector: Vector): string {
  return vector.map((value) => (value > 0 ? '1' : '0')).join('');
}

/** Providers refuse empty texts, and some refuse blank ones. */
function presentable(text: string): string {
  return cutText(text, MAX_INPUT_CHARS).trim() || '-';
}

function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (batch.length >= MAX_TEXTS_PER_CALL || (batch.length > 0 && characters + text.length > MAX_CHARS_PER_CALL)) {
      batches.push(batch);
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

type EmbedOptions = { timeoutMs: number; retries: number; signal?: AbortSignal | undefined };

async function embed(settings: ModelSettings, values: string[], options: EmbedOptions): Promise<Vector[]> {
  const { timeoutMs, retries, signal } = options;
  signal?.throwIfAborted();
  try {
    const model = await embeddingModel(settings);
    const attempt = async () => {
      const limit = AbortSignal.timeout(timeoutMs);
      const abortSignal = signal ? AbortSignal.any([signal, limit]) : limit;
      const { embeddings } = await model.doEmbed({ values, abortSignal });
      if (embeddings.length !== values.length) {
        throw new InvalidResponseDataError({ data: null, message: 'Not as many vectors as texts.' });
      }
      return embeddings.map(unitVector);
    };
    return await withRetries(attempt, { retries, begun: () => false, abortSignal: signal });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw faultOf(settings, error, values);
  }
}

function faultOf(settings: ModelSettings, error: unknown, said: readonly string[]) {
  const model = settings.embeddings ?? { provider: 'builtin' as const, modelId: '' };
  return modelFault(error, { settings, model, said });
}

function unitVector(vector: readonly number[]): Vector {
  const norm = Math.hypot(...vector);
  if (!(norm > 0) || !Number.isFinite(norm) || vector.length > MAX_DIMENSIONS) {
    throw new InvalidResponseDataError({ data: null, message: 'A vector without a direction.' });
  }
  return vector.map((value) => value / norm);
}

const loaded = new WeakMap<ModelSettings, Promise<EmbeddingModelV4>>();

function embeddingModel(settings: ModelSettings): Promise<EmbeddingModelV4> {
  let model = loaded.get(settings);
  if (!model) {
    model = load(settings);
    loaded.set(settings, model);
  }
  return model;
}

/** The packages are imported on first use: each costs start time and memory. */
async function load(settings: ModelSettings): Promise<EmbeddingModelV4> {
  const { embeddings } = settings;
  const baseURL = embeddings && baseUrlOf(settings, embeddings.provider);
  if (!embeddings || baseURL === undefined) throw new Error('No model for embeddings is configured.');
  const { provider, modelId } = embeddings;
  const shared = { baseURL, fetch: modelFetch() };
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ ...shared, apiKey: settings.openai?.apiKey ?? '' }).embeddingModel(modelId);
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ ...shared, apiKey: settings.google?.apiKey ?? '' }).embeddingModel(modelId);
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const apiKey = settings.openaiCompatible?.apiKey;
      const key = apiKey === undefined ? {} : { apiKey };
      return createOpenAICompatible({ ...shared, ...key, name: 'compatible' }).embeddingModel(modelId);
    }
  }
}
