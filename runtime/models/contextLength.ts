import { APICallError } from '@ai-sdk/provider';
import { ApiError } from '../../core/errors.ts';
import { withoutQuotes } from './redact.ts';

/*
 * How servers say that a request is longer than the context window of its model. None of them does it as another does: the status is 400,
 * 413, 422, 429 or 500, or 200 with an error in the body or in the stream; the body is OpenAI's error object, an object that is flat, or
 * a text. The texts and codes are those that their users have reported (github.com/vllm-project/vllm issues 4667, 20409, 33418;
 * ggml-org/llama.cpp 15780; lmstudio-ai/lmstudio-bug-tracker 237, 546; huggingface/text-generation-inference 628, 695;
 * sgl-project/sglang, QwenLM/Qwen3 1321; OpenHands/OpenHands 9937 for OpenRouter; anthropics/claude-code 228; ollama/ollama 17889;
 * BerriAI/litellm 10793, 15968, 21647; strands-agents/harness-sdk 1663; aws-samples/bedrock-chat 95).
 */

/** The provider found the request longer than the model's context window. With a shorter one it may answer. */
export class ContextTooLong extends ApiError {
  /** Tokens that fit, as the provider said. Undefined: it did not say, or the text may be the user's own. */
  readonly limit: number | undefined;
  /** See WindowExceeded. */
  readonly isCertain: boolean;

  constructor(message: string, { limit, isCertain }: WindowExceeded) {
    super('MODEL_PROVIDER_ERROR', message);
    this.name = 'ContextTooLong';
    this.limit = limit;
    this.isCertain = isCertain;
  }
}

/** What an error says of the window. */
export interface WindowExceeded {
  limit?: number;
  /**
   * The provider says that it is about the window. False: the request was too large in some way (413, which attachments have too), or a text says
   * so that may be the user's own. Then a shorter request may help this turn, and nothing is known of the model.
   */
  isCertain: boolean;
}

/** OpenAI, Groq, Azure and DeepSeek; llama.cpp; LiteLLM; GitHub Models; Copilot. */
const CODES =
  /^(?:context_length_exceeded|exceed_context_size_error|ContextWindowExceededError|context_window_exceeded|tokens_limit_reached|model_max_prompt_tokens_exceeded|model_context_window_exceeded)$/;

const N = String.raw`(\d[\d,]*)`;
const said = (text: string): RegExp => new RegExp(text.replaceAll('<N>', N), 'i');

/** Texts that name the limit; the most exact one comes first. */
const WITH_LIMIT: readonly RegExp[] = [
  // vLLM: "… context length is only 131072 tokens, resulting in a maximum input length of 98304 tokens"
  // DeepInfra: "exceeds maximum input length 32767"; TensorRT-LLM has it in brackets, Poolside says "maximum allowed input length of"
  said('maximum (?:allowed )?input length(?: of)? \\(?<N>(?![\\d,]| ?(?:characters|bytes))'),
  // OpenAI, vLLM, DeepSeek, OpenRouter ("This endpoint's …"), SGLang ("of"), Fireworks (":"); xAI and NVIDIA: "maximum prompt length is"
  said('maximum (?:context|prompt|model) length(?: is| of|:)? ?<N>'),
  said("context length is only <N>|model's context length \\(<N>"),
  // Mistral: "Prompt contains 300000 tokens …, too large for model with 131072 maximum context length"
  said('too large for model with <N>'),
  // Anthropic
  said('prompt is too long: \\d+ tokens > <N>'),
  said('exceed context limit: \\d+ \\+ \\d+ > <N>'),
  // Google: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)"
  said('input token count[^.]{0,40} exceeds the maximum number of tokens allowed \\(?<N>'),
  said('input token count is \\d+ but (?:the )?model only supports up to <N>'),
  // llama.cpp, and Ollama with it; llama-cpp-python
  said('exceeds the available context size \\(<N>'),
  said('exceed context window of <N>'),
  // LM Studio; its newer versions: "Cannot truncate prompt with n_keep (10294) >= n_ctx (4096)"
  said('context length of only <N>'),
  said('n_ctx(?:: ?| \\()<N>'),
  said('reached context length of <N>'),
  // vLLM, of a prompt with images
  said('too long to fit into the model \\(context length <N>'),
  // OpenAI and Azure, of models whose input has a limit of its own
  said('input tokens exceed the configured limit of <N>'),
  // Cerebras: "Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192"
  said('current length is \\d+ while limit is <N>'),
  // Alibaba's DashScope: "Range of input length should be [1, 258048]"
  said('range of input length should be \\[\\d+, ?<N>'),
  // Amazon Bedrock
  said('too many input tokens[^\\d]{0,5}max input tokens: <N>'),
  // Cohere
  said('number of tokens in the prompt cannot exceed <N>'),
  // TensorRT-LLM; TabbyAPI; OpenVINO
  said('should not exceed max_seq_len \\(<N>'),
  said('length \\d+ is greater than max_seq_len <N>'),
  said('exceeds model max length: <N>'),
  // DS4
  said('configured context size is <N>'),
  // TGI and Together
  said('`max_new_tokens` must be <= <N>'),
  said('`inputs` must have less than <N> tokens'),
  // Kimi; GitHub Models; Copilot
  said('exceeded model token limit: <N>'),
  said('request body too large.{0,120}max size: <N> tokens'),
  said('prompt token count of \\d+ exceeds the limit of <N>'),
];

const WITHOUT_LIMIT: readonly RegExp[] = [
  // OpenAI's Responses API
  /exceeds the context window/i,
  // Groq
  /reduce the length of the (?:input )?(?:messages|prompt)/i,
  /prompt is too long/i,
  /exceeds the available context size/i,
  /greater than the context length/i,
  /context window exceeds limit/i,
  /input is too long for requested model/i,
  // Ollama
  /prompt too long; exceeded (?:max )?context length/i,
  /input length exceeds the context length/i,
  /context[_ ]length[_ ]exceeded/i,
  // LM Studio and llama.cpp, when the window was full in the middle of the answer
  /context size has been exceeded/i,
  /cannot truncate prompt with n_keep/i,
  // Amazon Bedrock: Nova, and Llama at Google
  /number of input tokens exceeds maximum length/i,
  /too many input tokens/i,
  /tokens in request more than max tokens allowed/i,
  // Cohere
  /too many tokens: (?:size limit exceeded|total number of tokens)/i,
  // Perplexity, Volcengine, Zhipu, Baidu
  /total length of all messages is too long/i,
  /exceed max message tokens/i,
  /prompt exceeds max length/i,
  /prompt tokens too long/i,
  /ContextWindowExceededError/,
];

/** A limit of tokens a minute that one request exceeds by itself, of OpenAI (429) and Groq (413): no waiting helps. */
const PER_MINUTE = said('request too large for .{0,200}tokens per min.{0,80}limit <N>, requested <N>');

const ALL = [...WITH_LIMIT, ...WITHOUT_LIMIT, PER_MINUTE];

/** These are about who asks, or what for. */
const OTHER_STATUS: ReadonlySet<number> = new Set([401, 402, 403, 404]);
/** Of a text, of all texts, and of everything that an error carries: reading them keeps everybody waiting. */
const MAX_CHARS = 8_000;
const MAX_ALL_CHARS = 24_000;
const MAX_VALUES = 200;
const MAX_DEPTH = 6;
const MAX_LIMIT = 100_000_000;

/** Of the texts that tell of a window, those that are compared with the prompt. A message, and the body that repeats it, are two. */
const MAX_COMPARED = 4;

/** What an error carries: its texts, each once, its codes, and llama.cpp's `n_ctx`. */
type Evidence = { texts: Set<string>; chars: number; codes: string[]; window: number | undefined; values: number };

const CODE_FIELDS: ReadonlySet<string> = new Set(['code', 'type', 'error_type', 'status']);
/** What was asked, and how: the user's words are in it. */
const REQUEST_FIELDS: ReadonlySet<string> = new Set(['requestBodyValues', 'url', 'responseHeaders', 'stack', 'param']);

function collect(value: unknown, name: string, depth: number, found: Evidence): void {
  found.values += 1;
  if (depth > MAX_DEPTH || found.values > MAX_VALUES) return;
  if (typeof value === 'string') {
    const text = value.slice(0, MAX_CHARS);
    if (CODE_FIELDS.has(name)) found.codes.push(text);
    else if (!found.texts.has(text) && found.chars + text.length <= MAX_ALL_CHARS) {
      found.texts.add(text);
      found.chars += text.length;
    }
    // A body that the package does not know is still JSON, and a proxy puts the body of another server into its own message.
    const json = /^\s*\{/.test(text) ? parsed(text) : undefined;
    const { window } = found;
    if (json !== undefined) collect(json, '', depth + 1, found);
    // A message may be the user's own words.
    if (name !== 'responseBody') found.window = window;
    return;
  }
  if (name === 'n_ctx' && typeof value === 'number') found.window = value;
  if (value === null || typeof value !== 'object') return;
  for (const key of Error.isError(value) ? Object.getOwnPropertyNames(value) : Object.keys(value)) {
    if (!REQUEST_FIELDS.has(key)) collect((value as Record<string, unknown>)[key], key, depth + 1, found);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tokens(text: string | number | undefined): number | undefined {
  const count = typeof text === 'string' ? Number(text.replaceAll(',', '')) : text;
  return count !== undefined && Number.isInteger(count) && count > 0 && count <= MAX_LIMIT ? count : undefined;
}

function limitIn(texts: readonly string[]): number | undefined {
  for (const pattern of [...WITH_LIMIT, PER_MINUTE]) {
    for (const text of texts) {
      const match = pattern.exec(text);
      const limit = tokens(match?.slice(1).find((group) => group !== undefined));
      if (limit !== undefined) return limit;
    }
  }
  return undefined;
}

/**
 * What an error of a model call says of the window; undefined when it is about something else. `said` are the texts of the prompt: a
 * provider may quote them, and a user who writes about such errors must not set a limit. Then the limit counts as unknown.
 */
export function windowExceeded(error: unknown, said: readonly string[]): WindowExceeded | undefined {
  if (error instanceof ApiError)
    return error instanceof ContextTooLong ? exceeded(error.limit, error.isCertain) : undefined;
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  if (status !== undefined && OTHER_STATUS.has(status)) return undefined;
  const found: Evidence = { texts: new Set(), chars: 0, codes: [], window: undefined, values: 0 };
  collect(error, '', 0, found);
  const flat = [...found.texts].map((text) => text.replace(/\s+/g, ' '));
  const telling = flat.filter((text) => ALL.some((pattern) => pattern.test(text))).slice(0, MAX_COMPARED);
  // The newest message first: only the beginning of a long prompt is compared.
  const own = telling.map((text) => withoutQuotes(text, said.toReversed()));
  // A rate limit passes by itself, whatever its text advises, except for a request that is larger than what a minute has.
  if (status === 429) return own.some((text) => PER_MINUTE.test(text)) ? exceeded(limitIn(own), true) : undefined;
  const hasCode = found.codes.some((code) => CODES.test(code));
  if (telling.length === 0 && status !== 413 && !hasCode) return undefined;
  const limit = tokens(found.window) ?? limitIn(own);
  const isSaid = own.some((text) => ALL.some((pattern) => pattern.test(text)));
  return exceeded(limit, limit !== undefined || hasCode || isSaid);
}

function exceeded(limit: number | undefined, isCertain: boolean): WindowExceeded {
  return { ...(limit === undefined ? {} : { limit }), isCertain };
}
