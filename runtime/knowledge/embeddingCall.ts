import { type EmbeddingModelV4, InvalidResponseDataError } from '@ai-sdk/provider';
import type { ApiError } from '../../core/errors.ts';
import { modelFault } from '../models/errors.ts';
import { baseUrlOf } from '../models/providers.ts';
import { withRetries } from '../models/retry.ts';
import type { ModelSettings } from '../models/settings.ts';
import { type ModelFetch, modelFetch } from '../models/transport.ts';
import { type AnsweredVectors, embeddingFetch, MAX_DIMENSIONS } from './embeddingAnswer.ts';
import { embeddingForms } from './embeddingForms.ts';
import { isSlowAnswer } from './embeddingSizes.ts';

/** The embedding of a text. Its length is 1, so that the cosine of two vectors is their dot product. */
export type Vector = readonly number[];

/** What a text is embedded as: models put a question near its answers, and not near other questions. */
export type EmbeddedAs = 'query' | 'passage';

/** How a call is made. */
export interface CallOptions {
  as: EmbeddedAs;
  /** Of each attempt. */
  timeoutMs: number;
  retries: number;
  signal?: AbortSignal | undefined;
}

/**
 * Returns the vectors of texts in the same order, with one call of the configured model. Rejects with whatever the call failed with
 * (`embeddingFault` makes a fault of it).
 */
export async function callEmbeddingModel(
  settings: ModelSettings,
  texts: readonly string[],
  { as, timeoutMs, retries, signal }: CallOptions,
): Promise<Vector[]> {
  signal?.throwIfAborted();
  if (!settings.embeddings) throw new Error('No model for embeddings is configured.');
  const forms = embeddingForms(settings.embeddings);
  const values = texts.map((text) => forms[as] + text);
  const providerOptions = forms.tasks ? { providerOptions: { google: { taskType: forms.tasks[as] } } } : {};
  const { provider } = settings.embeddings;
  const { fetch, modelWith } = await embeddingModel(settings);
  let wasSlow = false;
  const attempt = async () => {
    const limit = AbortSignal.timeout(timeoutMs);
    const abortSignal = signal ? AbortSignal.any([signal, limit]) : limit;
    const answered: AnsweredVectors = {};
    const model = modelWith(embeddingFetch(fetch, { texts: values.length, provider, into: answered }));
    try {
      const { embeddings } = await model.doEmbed({ values, abortSignal, ...providerOptions });
      const vectors = answered.vectors ?? embeddings;
      if (vectors.length !== values.length) {
        throw new InvalidResponseDataError({ data: null, message: 'Not as many vectors as texts.' });
      }
      return vectors.map(unitVector);
    } catch (error) {
      wasSlow = isSlowAnswer(error);
      throw error;
    }
  };
  // The same call would take as long again; the caller makes a smaller one.
  return await withRetries(attempt, { retries, begun: () => wasSlow, abortSignal: signal });
}

/** The fault for an error of a call: MODEL_PROVIDER_ERROR, a sentence for people without secrets and without the texts. */
export function embeddingFault(settings: ModelSettings, error: unknown, said: readonly string[]): ApiError {
  const model = settings.embeddings ?? { provider: 'builtin' as const, modelId: '' };
  return modelFault(error, { settings, model, said });
}

function unitVector(vector: readonly number[]): Vector {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const norm = Math.sqrt(squares);
  if (!(norm > 0) || !Number.isFinite(norm) || vector.length > MAX_DIMENSIONS) {
    throw new InvalidResponseDataError({ data: null, message: 'A vector without a direction.' });
  }
  return vector.map((value) => value / norm);
}

/** The connections to a provider, and its model over a given `fetch`. */
interface LoadedModel {
  fetch: ModelFetch;
  modelWith(fetch: typeof globalThis.fetch): EmbeddingModelV4;
}

const loaded = new WeakMap<ModelSettings, Promise<LoadedModel>>();

function embeddingModel(settings: ModelSettings): Promise<LoadedModel> {
  let model = loaded.get(settings);
  if (!model) {
    model = load(settings);
    loaded.set(settings, model);
  }
  return model;
}

/** The packages are imported on first use: each costs start time and memory. */
async function load(settings: ModelSettings): Promise<LoadedModel> {
  const { embeddings } = settings;
  const baseURL = embeddings && baseUrlOf(settings, embeddings.provider);
  if (!embeddings || baseURL === undefined) throw new Error('No model for embeddings is configured.');
  const { provider, modelId } = embeddings;
  const own = { fetch: modelFetch() };
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const apiKey = settings.openai?.apiKey ?? '';
      return { ...own, modelWith: (fetch) => createOpenAI({ baseURL, fetch, apiKey }).embeddingModel(modelId) };
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      const apiKey = settings.google?.apiKey ?? '';
      return { ...own, modelWith: (fetch) => createGoogle({ baseURL, fetch, apiKey }).embeddingModel(modelId) };
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const apiKey = settings.openaiCompatible?.apiKey;
      const shared = { baseURL, ...(apiKey === undefined ? {} : { apiKey }), name: 'compatible' };
      return { ...own, modelWith: (fetch) => createOpenAICompatible({ ...shared, fetch }).embeddingModel(modelId) };
    }
  }
}
