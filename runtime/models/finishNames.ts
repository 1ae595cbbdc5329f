import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';

type Unified = LanguageModelV4FinishReason['unified'];

/**
 * Why an answer ended, in words of servers that OpenAI's chat completions do not have: Mistral (`model_length`, `error`), DeepSeek
 * (`insufficient_system_resource`), Zhipu (`sensitive`, `network_error`, `model_context_window_exceeded`), OpenRouter (`error`), vLLM (`abort`), TGI
 * (`eos_token`), Together (`eos`), and gateways that hand on the words of Anthropic and Google.
 */
const NAMES: Readonly<Partial<Record<Unified, readonly string[]>>> = {
  stop: ['eos', 'eos_token', 'end_turn', 'stop_sequence', 'complete', 'completed'],
  length: ['max_tokens', 'max_output_tokens', 'model_length', 'model_context_window_exceeded'],
  'content-filter': ['sensitive', 'safety', 'recitation', 'prohibited_content', 'blocklist'],
  'tool-calls': ['tool_call', 'tool_use'],
  error: ['error', 'abort', 'network_error', 'insufficient_system_resource'],
};

const MEANINGS: ReadonlyMap<string, Unified> = new Map(
  Object.entries(NAMES).flatMap(([unified, names]) => names.map((name) => [name, unified as Unified] as const)),
);

/** The reason, with its meaning where the provider's package knows none. */
export function withMeaning(finish: LanguageModelV4FinishReason): LanguageModelV4FinishReason {
  if (finish.unified !== 'other' || finish.raw === undefined) return finish;
  return { ...finish, unified: MEANINGS.get(finish.raw.toLowerCase()) ?? finish.unified };
}
