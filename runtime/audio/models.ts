import type { SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { baseUrlOf } from '../models/providers.ts';
import type { AudioModelName, ModelSettings } from '../models/settings.ts';
import { modelFetch } from '../models/transport.ts';

/** What an audio model does: write down a recording, or read a text aloud. */
export type AudioTask = 'transcription' | 'speech';

/**
 * The default models, in order of preference. Anthropic has no audio models. Those of a compatible server are known to its operator
 * only, who names them in the settings.
 */
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
 * Chooses the model for a task: the one that the settings name, or else one of the provider of the agent's own model, or else one of
 * any configured provider. Returns undefined when no configured provider has such a model.
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

/** Imports the provider's package on first use: each package costs start time and memory. */
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
      // The package for compatible servers has no audio models; the one for OpenAI uses the same protocol. It always gets a key:
      // without one, it would read OpenAI's own key from the environment and send it to this server.
      const { createOpenAI } = await import('@ai-sdk/openai');
      const apiKey = settings.openaiCompatible?.apiKey ?? 'none';
      return createOpenAI({ ...shared, apiKey, name: 'compatible' });
    }
  }
}
