import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { catalogueEntry, type ModelDescriptor } from './catalogue.ts';
import { type CallUsage, costUsd } from './cost.ts';
import { modelFault, UnfinishedAnswer } from './errors.ts';
import { type ModelMessage, toPrompt } from './prompt.ts';
import { languageModel } from './providers.ts';
import { withRetries } from './retry.ts';
import type { ModelSettings } from './settings.ts';

/** How hard a model thinks before it answers. */
export type Thinking = { enabled: boolean; effort?: 'low' | 'medium' | 'high' | undefined };

/** One question to a model. */
export type ModelCall = {
  model: ModelDescriptor;
  system?: string | undefined;
  /** Oldest first. Files are of kinds that the model takes. */
  messages: readonly ModelMessage[];
  /** Left out for models and modes that take none, and held within the model's range. */
  temperature?: number | undefined;
  thinking?: Thinking | undefined;
  abortSignal?: AbortSignal | undefined;
  /** Given: the answer is streamed, and each piece is handed over as it comes; the next waits for a returned promise. */
  onText?: ((delta: string) => void | Promise<void>) | undefined;
};

/** A complete answer. */
export type ModelAnswer = {
  text: string;
  usage: CallUsage;
  /** USD. */
  costUsd: number;
  /** `length`: cut at the model's own limit; `content-filter`: the provider withheld the rest. */
  finishReason: LanguageModelV4FinishReason['unified'];
};

const DEFAULT_EFFORT = 'medium';

function reasoning({ model, thinking }: ModelCall): LanguageModelV4CallOptions['reasoning'] {
  if (!model.supportsThinking || model.provider === 'builtin') return undefined;
  if (thinking?.enabled === true) return thinking.effort ?? DEFAULT_EFFORT;
  // Many models think by default, so "off" must be said; how, differs, and some have no off at all.
  return catalogueEntry(model.provider, model.modelId)?.thinkingOff;
}

function temperature({ model, temperature: wanted, thinking }: ModelCall): number | undefined {
  if (wanted === undefined || !model.supportsTemperature) return undefined;
  const thinks = model.supportsThinking && thinking?.enabled === true;
  // OpenAI's and Anthropic's models refuse a temperature while they think.
  if (thinks && (model.provider === 'openai' || model.provider === 'anthropic')) return undefined;
  return Math.min(Math.max(wanted, model.minTemperature), model.maxTemperature);
}

// Nothing is left at the provider.
const OPENAI_OPTIONS: SharedV4ProviderOptions = { openai: { store: false } };

/** The provider-level options of a call. */
function callOptions(call: ModelCall): LanguageModelV4CallOptions {
  const options: LanguageModelV4CallOptions = { prompt: toPrompt(call.system, call.messages) };
  const effort = reasoning(call);
  const degree = temperature(call);
  if (effort !== undefined) options.reasoning = effort;
  if (degree !== undefined) options.temperature = degree;
  if (call.abortSignal !== undefined) options.abortSignal = call.abortSignal;
  if (call.model.provider === 'openai') options.providerOptions = OPENAI_OPTIONS;
  return options;
}

type Raw = { text: string; usage: LanguageModelV4Usage; finish: LanguageModelV4FinishReason };

async function generate(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<Raw> {
  const result = await model.doGenerate(options);
  let text = '';
  for (const part of result.content) if (part.type === 'text') text += part.text;
  return { text, usage: result.usage, finish: result.finishReason };
}

async function stream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  onText: NonNullable<ModelCall['onText']>,
): Promise<Raw> {
  const { stream: parts } = await model.doStream(options);
  const reader = parts.getReader();
  const raw: Partial<Raw> = {};
  let text = '';
  try {
    for (;;) {
      const { done, value: part } = await reader.read();
      if (done) break;
      if (part.type === 'text-delta' && part.delta !== '') {
        text += part.delta;
        const handed = onText(part.delta);
        if (handed !== undefined) await handed;
      } else if (part.type === 'error') throw part.error;
      else if (part.type === 'finish') Object.assign(raw, { usage: part.usage, finish: part.finishReason });
    }
  } catch (error) {
    // Ends the connection, so that the provider stops generating what nobody reads.
    reader.cancel(error).catch(() => {});
    throw error;
  }
  if (raw.usage === undefined || raw.finish === undefined) throw new UnfinishedAnswer();
  return { text, usage: raw.usage, finish: raw.finish };
}

/** What the prompt says, to keep it out of error messages. */
function saidIn(prompt: LanguageModelV4Prompt): string[] {
  return prompt.flatMap((message) =>
    message.role === 'system'
      ? [message.content]
      : message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  );
}

/** One token per four characters begun: for servers that report no usage. */
const estimate = (texts: readonly string[]): number => Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4);

/** Tokens are counted in whole ones, whatever a server writes: an answer that is paid for must not fail over its bill. */
const whole = (tokens: number): number => Math.max(0, Math.round(tokens));

function usageOf(raw: Raw, prompt: LanguageModelV4Prompt): CallUsage {
  const inputTokens = whole(raw.usage.inputTokens.total ?? estimate(saidIn(prompt)));
  const outputTokens = whole(raw.usage.outputTokens.total ?? estimate([raw.text]));
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens: Math.min(inputTokens, whole(raw.usage.inputTokens.cacheRead ?? 0)),
  };
}

/**
 * Asks a model and waits for its whole answer. Without `onText` the provider answers in one piece, which costs both sides
 * less; with it the answer is streamed. Failures before the first piece are tried again as the settings say.
 *
 * Throws MODEL_PROVIDER_ERROR (a sentence for people, without secrets), UNSUPPORTED_ATTACHMENT, or the abort signal's
 * own reason when the caller ended the call. Errors of `onText` pass through as they are.
 */
export async function callModel(settings: ModelSettings, call: ModelCall): Promise<ModelAnswer> {
  const { model, abortSignal, onText } = call;
  abortSignal?.throwIfAborted();
  const options = callOptions(call);
  let begun = false;
  let listenerFailed = false;
  const listenerFault = (error: unknown): never => {
    listenerFailed = true;
    throw error;
  };
  const hand = (delta: string): void | Promise<void> => {
    begun = true;
    try {
      const handed = onText?.(delta);
      return handed?.catch(listenerFault);
    } catch (error) {
      listenerFault(error);
    }
  };
  try {
    const language = await languageModel(settings, model);
    const raw = await withRetries(
      () => (onText === undefined ? generate(language, options) : stream(language, options, hand)),
      { retries: settings.retries, begun: () => begun, abortSignal },
    );
    // How the packages tell of a stream that just stopped.
    if (raw.finish.unified === 'interrupted' || raw.finish.unified === 'error') throw new UnfinishedAnswer();
    const usage = usageOf(raw, options.prompt);
    return { text: raw.text, usage, costUsd: costUsd(model, usage), finishReason: raw.finish.unified };
  } catch (error) {
    if (abortSignal?.aborted) throw abortSignal.reason;
    if (listenerFailed) throw error;
    throw modelFault(error, { settings, model, said: saidIn(options.prompt) });
  }
}
