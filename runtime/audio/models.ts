import type { SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { baseUrlOf } from '../models/providers.ts';
import type { AudioModelName, ModelSettings } from '../models/settings.ts';
import { modelFetch } from '../models/transport.ts';

/** What a model does with sound. */
export type AudioTask = 'transcription' | 'speech';

/** In the order in which they are asked. Anthropic has no such models; which ones a compatible server has only its operator knows. */
const DEFAULTS: Readonly<Record<AudioTask, readonly AudioModelName[]>> = {
  transcription: [
    { provider: 'openai', modelId: 'gpt-4o-mini-transcribe' },
    { provider: 'google', modelId: 'gemini-3.5-transcribe' },
  ],
  speech: [
    { provider: 'openai', modelId: 'gpt-4o-mini-tts' },
    { provider: 'google', modelId: 'gemini-3.8-flash-tts' },
  ],
};

/**
 * The model for a task: the one that the settings name, else one of the provider of the agent's own model, else one of any configured
 * provider. Undefined when none of them has such models.
 */
export function audioModelName(
  settings: ModelSettings,
  task: AudioTask,
  own: Pick<ModelDescriptor, 'provider'> | undefined,
): AudioModelName | undefined {
  const usable = DEFAULTS[task].filter(({ provider }) => baseUrlOf(settings, provider) !== undefined);
  return settings[task] ?? usable.find(({ provider }) => provider === own?.provider) ?? usable[0];
}

interface AudioModels {
  transcription(modelId: string): TranscriptionModelV4;
  speech(modelId: string): SpeechModelV4;
}

const loaded = new WeakMap<ModelSettings, Map<AudioModelName['provider'], Promise<AudioModels>>>();
let pool: typeof globalThis.fetch | undefined;

/** The audio models of a configured provider. */
export function audioModels(settings: ModelSettings, provider: AudioModelName['provider']): Promise<AudioModels> {
  const here = loaded.get(settings) ?? new Map<AudioModelName['provider'], Promise<AudioModels>>();
  loaded.set(settings, here);
  const models = here.get(provider) ?? load(settings, provider);
  here.set(provider, models);
  return models;
}

/** The packages are imported on first use: each costs start time and memory. */
async function load(settings: ModelSettings, provider: AudioModelName['provider']): Promise<AudioModels> {
  const baseURL = baseUrlOf(settings, provider);
  if (baseURL === undefined) throw new Error(`The provider ${provider} is not configured.`);
  pool ??= modelFetch();
  const shared = { baseURL, fetch: pool };
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ ...shared, apiKey: settings.openai?.apiKey ?? '' });
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ ...shared, apiKey: settings.google?.apiKey ?? '' });
    }
    case 'openai-compatible': {
      // The package for compatible servers has no audio; that for OpenAI speaks the same protocol. The key is always given: without,
      // OpenAI's own would be read from the environment and sent to this server.
      const { createOpenAI } = await import('@ai-sdk/openai');
      const apiKey = settings.openaiCompatible?.apiKey ?? 'none';
      return createOpenAI({ ...shared, apiKey, name: 'compatible' });
    }
  }
}
