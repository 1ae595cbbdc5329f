import type { LanguageModelV4 } from '@ai-sdk/provider';
import { fault } from '../../core/errors.ts';
import { DEFAULT_MAX_ANSWER_BYTES } from './answerLimit.ts';
import { builtinModel } from './builtin/model.ts';
import type { ModelDescriptor, ModelProvider } from './catalogue.ts';
import type { ModelSettings } from './settings.ts';
import { modelFetch } from './transport.ts';

// Always set, because the provider packages would otherwise read one from the environment.
const BASE_URLS = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
} as const;

/** The variable that holds a provider's key, for messages to the operator. */
export const KEY_VARIABLES: Readonly<Record<ModelProvider, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  'openai-compatible': 'OPENAI_COMPATIBLE_API_KEY',
  builtin: '',
};

/** Returns the base URL of a provider's API; undefined for the built-in model and for a provider without settings. */
export function baseUrlOf(settings: ModelSettings, provider: ModelProvider): string | undefined {
  if (provider === 'builtin') return undefined;
  if (provider === 'openai-compatible') return settings.openaiCompatible?.baseUrl;
  return settings[provider]?.baseUrl ?? (settings[provider] === undefined ? undefined : BASE_URLS[provider]);
}

/** Whether models of this provider can be called with these settings. */
export function isConfigured(settings: ModelSettings, provider: ModelProvider): boolean {
  return provider === 'builtin' || baseUrlOf(settings, provider) !== undefined;
}

type Factory = (modelId: string) => LanguageModelV4;

/** One connection pool for all providers, created by the first call; one for each limit of answers. */
const pools = new Map<number, typeof globalThis.fetch>();

function poolOf({ maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES }: ModelSettings): typeof globalThis.fetch {
  const pool = pools.get(maxAnswerBytes) ?? modelFetch(maxAnswerBytes);
  pools.set(maxAnswerBytes, pool);
  return pool;
}

/** The packages are imported at the first use, because each costs start time and memory. */
async function load(settings: ModelSettings, provider: Exclude<ModelProvider, 'builtin'>): Promise<Factory> {
  const baseURL = baseUrlOf(settings, provider);
  if (baseURL === undefined) throw notConfigured(provider);
  const shared = { baseURL, fetch: poolOf(settings) };
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      // The Responses API: OpenAI's chat completions refuse tools together with reasoning since GPT-5.6.
      return createOpenAI({ ...shared, apiKey: settings.openai?.apiKey ?? '' }).responses;
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ ...shared, apiKey: settings.anthropic?.apiKey ?? '' });
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ ...shared, apiKey: settings.google?.apiKey ?? '' });
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const apiKey = settings.openaiCompatible?.apiKey;
      const options = {
        ...shared,
        name: 'compatible',
        includeUsage: true,
        ...(apiKey === undefined ? {} : { apiKey }),
      };
      return createOpenAICompatible(options);
    }
  }
}

function notConfigured(provider: ModelProvider) {
  const variable = provider === 'openai-compatible' ? 'OPENAI_COMPATIBLE_BASE_URL' : KEY_VARIABLES[provider];
  return fault(
    'MODEL_PROVIDER_ERROR',
    `This model's provider is not configured. Set ${variable}, or choose another model.`,
  );
}

type LoadedModels = { factories: Map<ModelProvider, Promise<Factory>>; models: Map<string, LanguageModelV4> };

const loaded = new WeakMap<ModelSettings, LoadedModels>();

// Workspaces add models of their own, so the number of ids has no natural maximum.
const MAX_CACHED_MODELS = 1_000;

/**
 * Returns the AI SDK's model for a descriptor, created once per settings object and model id. Throws MODEL_PROVIDER_ERROR when the
 * provider has no settings.
 */
export async function languageModel(
  settings: ModelSettings,
  { provider, modelId }: Pick<ModelDescriptor, 'provider' | 'modelId'>,
): Promise<LanguageModelV4> {
  if (provider === 'builtin') return builtinModel;
  let here = loaded.get(settings);
  if (here === undefined) {
    here = { factories: new Map(), models: new Map() };
    loaded.set(settings, here);
  }
  const key = `${provider}/${modelId}`;
  const known = here.models.get(key);
  if (known !== undefined) return known;
  if (!isConfigured(settings, provider)) throw notConfigured(provider);
  let factory = here.factories.get(provider);
  if (factory === undefined) {
    factory = load(settings, provider);
    here.factories.set(provider, factory);
  }
  const model = (await factory)(modelId);
  if (here.models.size >= MAX_CACHED_MODELS) here.models.clear();
  here.models.set(key, model);
  return model;
}
