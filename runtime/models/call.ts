import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { fault } from '../../core/errors.ts';
import {
  type FilterFactory,
  generate,
  type ModelToolCall,
  type RawAnswer,
  type ReadAnswer,
  readAnswer,
  stream,
} from './answer.ts';
import { DEFAULT_MAX_ANSWER_BYTES, OVERSIZED } from './answerLimit.ts';
import { promptCacheKey, withCacheMarks } from './caching.ts';
import { catalogueEntry, type ModelDescriptor, type ModelProvider } from './catalogue.ts';
import { ContextTooLong } from './contextLength.ts';
import { type CallUsage, costUsd } from './cost.ts';
import { FilledWindow, MalformedCall, mayRefuseFiles, modelFault, UnfinishedAnswer } from './errors.ts';
import { withMeaning } from './finishNames.ts';
import {
  type AssistantPart,
  type ModelMessage,
  promptTexts,
  toPrompt,
  withJoinedTexts,
  withPlainIds,
} from './prompt.ts';
import { languageModel } from './providers.ts';
import { withRetries } from './retry.ts';
import type { ModelSettings } from './settings.ts';
import { ThinkingHabits, ThoughtFilter } from './thoughts.ts';
import { hasToolFiles, REFUSED, shownFiles, withoutToolFiles } from './toolFiles.ts';
import { usageOf } from './usage.ts';

export type { ModelToolCall };

/** How hard a model thinks before it answers. */
export type Thinking = { enabled: boolean; effort?: 'low' | 'medium' | 'high' | undefined };

/** A tool that a model may call. `inputSchema` is a JSON Schema, draft-07 or 2020-12, of an object. */
export type ModelTool = { name: string; description: string; inputSchema: Record<string, unknown> };

/** One request to a model. */
export type ModelCall = {
  /** Whose request it is. What its answer tells of the model is kept for this workspace only. */
  workspaceId: string;
  model: ModelDescriptor;
  system?: string | undefined;
  /** Oldest first. Files are of kinds that the model takes. */
  messages: readonly ModelMessage[];
  tools?: readonly ModelTool[] | undefined;
  /** `none`: the tools are described, and the model has to answer with text; its calls are dropped. Default `auto`. */
  toolChoice?: 'auto' | 'none' | undefined;
  /** Ignored for models and modes that do not support it, and clamped to the model's range. */
  temperature?: number | undefined;
  thinking?: Thinking | undefined;
  /** Identifies requests that begin alike: those of an agent in a conversation. */
  cacheId?: string | undefined;
  abortSignal?: AbortSignal | undefined;
  /** If present, the answer is streamed and each piece is passed to it. The next piece waits for a returned promise. */
  onText?: ((delta: string) => void | Promise<void>) | undefined;
};

/**
 * Why an answer ended: `stop` and `tool-calls`: it is whole; `length`: cut at the limit of the model or of its window; `content-filter`: the
 * provider withheld the rest; `refusal`: the model or its provider refused to answer; `empty`: it is whole, and has neither text nor
 * calls; `other`: for a reason that the provider does not explain.
 */
export type FinishReason = LanguageModelV4FinishReason['unified'] | 'refusal' | 'empty';

/** A complete answer. */
export type ModelAnswer = {
  /** Empty when the model only called tools. */
  text: string;
  /** What goes back to the same model with the results of its calls: `{ role: 'assistant', content }`. */
  content: AssistantPart[];
  /** In the order in which the model made them. */
  toolCalls: ModelToolCall[];
  usage: CallUsage;
  /** USD. */
  costUsd: number;
  finishReason: FinishReason;
  /** It has neither text nor calls, and the model has thought before. */
  isOnlyThoughts?: true;
  /** The answer was cut at `maxAnswerBytes` of the settings. It has no calls then. */
  isOversized?: true;
  /** The provider refused the request with the files of tool results, and answered it without them. */
  refusedFiles?: true;
};

const DEFAULT_EFFORT = 'medium';

function reasoning({ model, thinking }: ModelCall): LanguageModelV4CallOptions['reasoning'] {
  if (!model.supportsThinking || model.provider === 'builtin') return undefined;
  if (thinking?.enabled === true) return thinking.effort ?? DEFAULT_EFFORT;
  // Many models think by default, so it must be switched off. The way differs, and some models cannot.
  return catalogueEntry(model.provider, model.modelId)?.thinkingOff;
}

function temperature({ model, temperature: wanted, thinking }: ModelCall): number | undefined {
  if (wanted === undefined || !model.supportsTemperature) return undefined;
  const thinks = model.supportsThinking && thinking?.enabled === true;
  // OpenAI's and Anthropic's models refuse a temperature while they think.
  if (thinks && (model.provider === 'openai' || model.provider === 'anthropic')) return undefined;
  return Math.min(Math.max(wanted, model.minTemperature), model.maxTemperature);
}

const PROVIDER_OPTIONS: Partial<Record<ModelProvider, SharedV4ProviderOptions>> = {
  // The provider stores nothing. Summaries of thoughts are not used, and accounts that are not verified may not request them.
  openai: { openai: { store: false, reasoningSummary: null } },
  // Partial arguments are not used, and arguments that are streamed may end as invalid JSON.
  anthropic: { anthropic: { toolStreaming: false } },
};

function described({ name, description, inputSchema }: ModelTool): LanguageModelV4FunctionTool {
  // OpenAI refuses objects without `properties`, every provider refuses a schema that is no object, and Google refuses `$schema`.
  const { $schema, ...schema } = inputSchema;
  const object = { ...schema, type: 'object', properties: schema.properties ?? {} };
  return { type: 'function', name, description, inputSchema: object as LanguageModelV4FunctionTool['inputSchema'] };
}

/** Describes the tools of earlier calls for a request without tools. Several servers refuse calls of unknown tools in a conversation. */
function formerTools(prompt: LanguageModelV4Prompt): ModelTool[] {
  const parts = prompt.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const names = new Set(parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : [])));
  return [...names].map((name) => ({ name, description: 'No longer available.', inputSchema: {} }));
}

const mayCall = ({ tools = [], toolChoice }: ModelCall): boolean => tools.length > 0 && toolChoice !== 'none';

/** The provider-level options of a call. */
function callOptions(call: ModelCall): LanguageModelV4CallOptions {
  const { provider } = call.model;
  const prompt = toPrompt(call.system, call.messages, shownFiles(call.model));
  // Compatible servers get their own ids back, because some models' prompts contain them.
  const options: LanguageModelV4CallOptions = {
    prompt: provider === 'openai-compatible' ? withJoinedTexts(prompt) : withPlainIds(prompt),
  };
  const tools = call.tools !== undefined && call.tools.length > 0 ? call.tools : formerTools(prompt);
  if (tools.length > 0) {
    options.tools = tools.map(described);
    if (!mayCall(call)) options.toolChoice = { type: 'none' };
  }
  const effort = reasoning(call);
  const degree = temperature(call);
  if (effort !== undefined) options.reasoning = effort;
  if (degree !== undefined) options.temperature = degree;
  if (call.abortSignal !== undefined) options.abortSignal = call.abortSignal;
  const own = PROVIDER_OPTIONS[provider];
  if (own !== undefined) options.providerOptions = own;
  if (provider === 'openai' && call.cacheId !== undefined) {
    options.providerOptions = { openai: { ...own?.openai, promptCacheKey: promptCacheKey(call.cacheId) } };
  }
  return provider === 'anthropic' ? withCacheMarks(options) : options;
}

/** Whether nothing was said and nothing is called. Thoughts may be there. */
const isEmpty = ({ parts }: RawAnswer): boolean =>
  parts.every((part) => part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === ''));

/** Returns the answer if it is complete, with the meaning of its end. Throws otherwise. */
function finished(answer: RawAnswer): RawAnswer {
  const raw = { ...answer, finish: withMeaning(answer.finish) };
  // Google's models do this sometimes. A retry mostly helps.
  if (raw.finish.raw === 'MALFORMED_FUNCTION_CALL') throw new MalformedCall();
  if (raw.finish.raw === 'model_context_window_exceeded' && isEmpty(raw)) throw new FilledWindow();
  // The packages report a stream that stopped early in this way.
  if (raw.finish.unified === 'interrupted' || raw.finish.unified === 'error') throw new UnfinishedAnswer();
  return raw;
}

/** What OpenAI (also over chat completions) and Anthropic report for an answer that is a refusal; a filter of the provider has names of its own. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['refusal', 'stop', 'completed', undefined]);

/** Returns the finish reason. It is `tool-calls` exactly when a whole answer has calls. */
function finishOf({ unified, raw }: RawAnswer['finish'], { text, toolCalls }: ReadAnswer): FinishReason {
  if (unified === 'content-filter') return REFUSALS.has(raw) ? 'refusal' : unified;
  if (unified === 'length') return unified;
  if (toolCalls.length > 0) return unified === 'stop' ? 'tool-calls' : unified;
  if (text.trim() === '') return 'empty';
  return unified === 'tool-calls' ? 'stop' : unified;
}

/**
 * Calls a model and waits for its whole answer. Without `onText` the provider returns it in one piece, which is cheaper; with it the
 * answer is streamed. Failures before the first piece are retried as the settings say. An answer over the limit of the settings is cut.
 *
 * Throws MODEL_PROVIDER_ERROR (a sentence for people, without secrets; as ContextTooLong when a shorter request may be answered, and no
 * piece of an answer was passed on), UNSUPPORTED_ATTACHMENT, or the abort signal's
 * own reason when the caller ended the call. Errors of `onText` pass through as they are.
 */
export async function callModel(settings: ModelSettings, call: ModelCall): Promise<ModelAnswer> {
  const { model, abortSignal, onText } = call;
  const { maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES } = settings;
  abortSignal?.throwIfAborted();
  let options = callOptions(call);
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
  const filterOf: FilterFactory | undefined =
    model.provider === 'openai-compatible'
      ? (isWhole) => new ThoughtFilter(new ThinkingHabits(settings, call.workspaceId, model.modelId), { isWhole })
      : undefined;
  try {
    const language = await languageModel(settings, model);
    const ask = () =>
      withRetries(
        async () =>
          finished(
            await (onText === undefined
              ? generate(language, options, filterOf)
              : stream(language, options, maxAnswerBytes, hand, filterOf)),
          ),
        { retries: settings.retries, begun: () => begun, abortSignal },
      );
    let refusedFiles = {};
    const raw = await ask().catch((error: unknown) => {
      // A tool's picture may be broken, too large or too many for the model. That must not fail the turn.
      if (begun || !hasToolFiles(call.messages) || !mayRefuseFiles(error, model)) throw error;
      options = callOptions({ ...call, messages: withoutToolFiles(call.messages, REFUSED) });
      refusedFiles = { refusedFiles: true };
      return ask();
    });
    const toolNames = new Set(mayCall(call) ? call.tools?.map(({ name }) => name) : []);
    const said = readAnswer(raw, toolNames);
    const usage = usageOf(raw, options);
    const finishReason = finishOf(raw.finish, said);
    const onlyThoughts =
      raw.hasThoughts === true && said.text.trim() === '' && said.toolCalls.length === 0
        ? { isOnlyThoughts: true as const }
        : {};
    const isOversized = raw.finish === OVERSIZED ? { isOversized: true as const } : {};
    return {
      ...said,
      usage,
      costUsd: costUsd(model, usage),
      finishReason,
      ...onlyThoughts,
      ...isOversized,
      ...refusedFiles,
    };
  } catch (error) {
    if (abortSignal?.aborted) throw abortSignal.reason;
    if (listenerFailed) throw error;
    const failure = modelFault(error, { settings, model, said: promptTexts(options.prompt) });
    throw begun && failure instanceof ContextTooLong ? fault(failure.code, failure.message) : failure;
  }
}
