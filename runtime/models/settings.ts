/** One provider's access. `baseUrl` replaces the provider's public address, including its version segment (`…/v1`). */
export type ProviderAccess = { apiKey: string; baseUrl?: string };

/** A model that turns speech into text, or text into speech. */
export type AudioModelName = { provider: 'openai' | 'google' | 'openai-compatible'; modelId: string };

/** A model for embeddings. What stands before a query or a passage is known by the model's id where it is absent (embeddingForms.ts). */
export type EmbeddingModelName = AudioModelName & { queryPrefix?: string; passagePrefix?: string };

/** The access to model providers. A provider that is absent has no key, and its models are inactive. */
export type ModelSettings = {
  openai?: ProviderAccess;
  anthropic?: ProviderAccess;
  google?: ProviderAccess;
  /** A server with OpenAI's chat completions API; `models` are the ids that it offers, `windows` the context windows that were set for some. */
  openaiCompatible?: { baseUrl: string; apiKey?: string; models: string[]; windows?: ReadonlyMap<string, number> };
  /** The model that turns texts into vectors, for search by meaning; its provider is configured. Absent: search by words alone. */
  embeddings?: EmbeddingModelName;
  /** The model that transcribes voice messages; its provider is configured. Absent: one is chosen (audio/models.ts). */
  transcription?: AudioModelName;
  /** The model that speaks replies, likewise. */
  speech?: AudioModelName;
  /** Maximum number of retries of a call before a part of its answer has arrived (0 = none). */
  retries: number;
  /** Bytes of an answer: its text, thoughts and arguments of calls when it is streamed, the provider's whole JSON otherwise. Default 4 MiB. */
  maxAnswerBytes?: number;
};

/** Enough for a short failure, and few enough to report a broken provider within seconds. */
export const DEFAULT_RETRIES = 2;

const MIN_WINDOW = 256;
const MAX_WINDOW = 100_000_000;

/** Whether a value can be the context window of a model, in tokens. */
export const isWindow = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= MIN_WINDOW && value <= MAX_WINDOW;

const MIN_ANSWER_BYTES = 1_000;
const MAX_ANSWER_BYTES = 1_000_000_000;

type Env = Readonly<Record<string, string | undefined>>;

const given = (value: string | undefined): string | undefined => value?.trim() || undefined;

function access(env: Env, key: string, url?: string): ProviderAccess | undefined {
  const apiKey = given(env[key]);
  if (apiKey === undefined) return undefined;
  const baseUrl = url === undefined ? undefined : given(env[url]);
  return baseUrl === undefined ? { apiKey } : { apiKey, baseUrl: checkedUrl(url ?? '', baseUrl) };
}

function checkedUrl(name: string, value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new Error(`${name} must be an http or https address.`);
  }
  return value.replace(/(?<!\/)\/+$/, '');
}

function answerBytes(env: Env): number | undefined {
  const text = given(env.GUILDHALL_MAX_ANSWER_BYTES);
  if (text === undefined) return undefined;
  const bytes = Number(text);
  if (!/^\d+$/.test(text) || bytes < MIN_ANSWER_BYTES || bytes > MAX_ANSWER_BYTES) {
    throw new Error(
      `GUILDHALL_MAX_ANSWER_BYTES must be a whole number from ${MIN_ANSWER_BYTES} to ${MAX_ANSWER_BYTES}, not ${JSON.stringify(text)}.`,
    );
  }
  return bytes;
}

/** Of a passage's prefix, which is a part of the name under which vectors are stored; and of a query's, which may be a whole instruction. */
const [MAX_PASSAGE_PREFIX_CHARS, MAX_QUERY_PREFIX_CHARS] = [60, 1_000];

/** Parses a variable that replaces what is known of a model: `none` is no prefix, and `\n` a new line. Spaces at its ends count. */
function prefix(env: Env, name: string, maxChars: number): string | undefined {
  const value = env[name];
  if (given(value) === undefined || value === undefined) return undefined;
  if (value.trim() === 'none') return '';
  const text = value.replaceAll('\\n', '\n');
  if (text.length > maxChars) throw new Error(`${name} must have at most ${maxChars} characters.`);
  return text;
}

/** The model for embeddings with what its texts have around them. */
function embeddingModel(env: Env, settings: ModelSettings): EmbeddingModelName | undefined {
  const model = namedModel(env, 'GUILDHALL_EMBEDDING_MODEL', 'text-embedding-3-small', settings);
  const queryPrefix = prefix(env, 'GUILDHALL_EMBEDDING_QUERY_PREFIX', MAX_QUERY_PREFIX_CHARS);
  const passagePrefix = prefix(env, 'GUILDHALL_EMBEDDING_PASSAGE_PREFIX', MAX_PASSAGE_PREFIX_CHARS);
  if (model === undefined) return undefined;
  const query = queryPrefix === undefined ? {} : { queryPrefix };
  return { ...model, ...query, ...(passagePrefix === undefined ? {} : { passagePrefix }) };
}

/** The ids of a list, and the windows of those that end in `@` and digits. Another `@` belongs to the id, as in `model@2024-01`. */
function compatibleModels(list: string): { models: string[]; windows?: Map<string, number> } {
  const windows = new Map<string, number>();
  const models = new Set<string>();
  for (const entry of list.split(',').map((each) => each.trim())) {
    const [, id = entry, digits] = /^(.+)@(\d+)$/.exec(entry) ?? [];
    if (id === '') continue;
    models.add(id);
    if (digits === undefined) continue;
    if (!isWindow(Number(digits))) {
      throw new Error(
        `OPENAI_COMPATIBLE_MODELS gives ${id} a context window of ${digits} tokens: it must be from ${MIN_WINDOW} to ${MAX_WINDOW}.`,
      );
    }
    windows.set(id, Number(digits));
  }
  return { models: [...models], ...(windows.size > 0 ? { windows } : {}) };
}

const NAMED_MODEL = /^(openai|google|openai-compatible)\/(\S{1,200})$/;

/** Parses a variable that names a model for embeddings or audio. */
function namedModel(env: Env, name: string, example: string, settings: ModelSettings): AudioModelName | undefined {
  const value = given(env[name]);
  if (value === undefined) return undefined;
  const [, provider, modelId] = NAMED_MODEL.exec(value) ?? [];
  if (provider === undefined || modelId === undefined) {
    throw new Error(
      `${name} must be openai/<model>, google/<model> or openai-compatible/<model>, such as openai/${example}.`,
    );
  }
  const found = { provider: provider as AudioModelName['provider'], modelId };
  if (settings[found.provider === 'openai-compatible' ? 'openaiCompatible' : found.provider] === undefined) {
    throw new Error(`${name} names a model of ${provider}, and that provider is not configured.`);
  }
  return found;
}

/**
 * Reads the model settings from environment variables. Blank values count as absent. Throws an Error that names the
 * variable (of a secret never its value) when an address is no http(s) URL, or a model for embeddings, transcription or speech cannot be
 * used, or the limit of answers or a context window is no number that can be.
 */
export function modelSettingsFromEnv(env: Env): ModelSettings {
  const openai = access(env, 'OPENAI_API_KEY', 'OPENAI_BASE_URL');
  const anthropic = access(env, 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL');
  const google = access(env, 'GOOGLE_GENERATIVE_AI_API_KEY');
  const compatibleUrl = given(env.OPENAI_COMPATIBLE_BASE_URL);
  const settings: ModelSettings = { retries: DEFAULT_RETRIES };
  const maxAnswerBytes = answerBytes(env);
  if (maxAnswerBytes !== undefined) settings.maxAnswerBytes = maxAnswerBytes;
  if (openai !== undefined) settings.openai = openai;
  if (anthropic !== undefined) settings.anthropic = anthropic;
  if (google !== undefined) settings.google = google;
  if (compatibleUrl !== undefined) {
    const offered = compatibleModels(env.OPENAI_COMPATIBLE_MODELS ?? '');
    const apiKey = given(env.OPENAI_COMPATIBLE_API_KEY);
    settings.openaiCompatible = {
      baseUrl: checkedUrl('OPENAI_COMPATIBLE_BASE_URL', compatibleUrl),
      ...offered,
    };
    if (apiKey !== undefined) settings.openaiCompatible.apiKey = apiKey;
  }
  const embeddings = embeddingModel(env, settings);
  const transcription = namedModel(env, 'GUILDHALL_TRANSCRIPTION_MODEL', 'gpt-4o-mini-transcribe', settings);
  const speech = namedModel(env, 'GUILDHALL_SPEECH_MODEL', 'gpt-4o-mini-tts', settings);
  if (embeddings !== undefined) settings.embeddings = embeddings;
  if (transcription !== undefined) settings.transcription = transcription;
  if (speech !== undefined) settings.speech = speech;
  return settings;
}
