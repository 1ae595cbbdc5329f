import { KnownWindows } from './knownWindows.ts';
import { baseUrlOf } from './providers.ts';
import { isWindow, type ModelSettings } from './settings.ts';
import { modelFetch } from './transport.ts';

/*
 * The context windows that a compatible server tells. What it has loaded comes before what the model was trained with, because only that is
 * what a request may have:
 * - GET <base>/models: `meta.n_ctx` of llama.cpp and llama-swap, `loaded_context_length`, `max_model_len` of vLLM and SGLang,
 *   `context_length` of OpenRouter and Together, `context_window` of Groq, `max_context_length` of Mistral, `meta.n_ctx_train` last;
 * - GET /props of llama.cpp, GET /api/v0/models of LM Studio, GET /info of TGI, and of Ollama GET /api/ps (what is loaded) and POST /api/show
 *   (`num_ctx` of the Modelfile). Ollama's `model_info` is not read: it is what the model was trained with, and Ollama gives it less, and cuts
 *   longer requests without a word (ollama/ollama issues 4967, 17889).
 */

/** Of each request. */
const DEADLINE_MS = 10_000;
/** The list of OpenRouter has about a megabyte. */
const MAX_BYTES = 4 * 1024 * 1024;
const REFRESH_MS = 600_000;
/** Models that are asked for one by one. */
const MAX_SHOWN = 20;

const LIST_FIELDS = [
  'loaded_context_length',
  'max_model_len',
  'context_length',
  'context_window',
  'max_context_length',
];

/** Made by the first request: most services have no compatible server. */
let getting: typeof globalThis.fetch | undefined;

type Json = Record<string, unknown>;

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(objectOf) : []);
const firstWindow = (...values: unknown[]): number | undefined => values.find(isWindow);

/**
 * Asks the compatible server of the settings for the windows of its models, and keeps them for the catalogue. Never fails: a server that
 * tells nothing leaves everything as it was. Takes seconds at most for each address.
 */
export async function readServerWindows(settings: ModelSettings, signal?: AbortSignal): Promise<void> {
  const base = baseUrlOf(settings, 'openai-compatible');
  const { models = [], windows: set, apiKey } = settings.openaiCompatible ?? {};
  const sought = models.filter((id) => !set?.has(id));
  if (base === undefined || sought.length === 0) return;
  const root = base.replace(/\/v1$/, '');
  const found = new Map<string, number>();
  const note = (id: unknown, tokens: number | undefined) => {
    if (typeof id === 'string' && tokens !== undefined && sought.includes(id) && !found.has(id)) found.set(id, tokens);
  };
  const missing = () => sought.filter((id) => !found.has(id));
  const ask = (address: string, body?: object) => readJson(address, { body, apiKey, signal });

  const list = await ask(`${base}/models`);
  if (list === undefined) return;
  // Together answers with a list, the others with an object around it.
  for (const entry of listOf(Array.isArray(list) ? list : objectOf(list).data)) {
    const meta = objectOf(entry.meta);
    note(entry.id, firstWindow(meta.n_ctx, ...LIST_FIELDS.map((field) => entry[field]), meta.n_ctx_train));
  }
  if (missing().length > 0) {
    for (const entry of listOf(objectOf(await ask(`${root}/api/v0/models`)).data)) {
      note(entry.id, firstWindow(entry.loaded_context_length));
    }
  }
  if (missing().length > 0) {
    for (const entry of listOf(objectOf(await ask(`${root}/api/ps`)).models)) {
      const tokens = firstWindow(entry.context_length);
      const name = typeof entry.model === 'string' ? entry.model : String(entry.name);
      // Ollama adds a tag to a name without one.
      for (const id of [name, name.replace(/:latest$/, '')]) note(id, tokens);
    }
  }
  const [only] = models.length === 1 ? missing() : [];
  if (only !== undefined) {
    // Neither of them says which model is meant: there is one.
    const props = objectOf(await ask(`${root}/props`));
    note(only, firstWindow(objectOf(props.default_generation_settings).n_ctx, props.n_ctx));
    if (missing().length > 0) note(only, firstWindow(objectOf(await ask(`${root}/info`)).max_total_tokens));
  }
  for (const id of missing().slice(0, MAX_SHOWN)) {
    const { parameters } = objectOf(await ask(`${root}/api/show`, { model: id }));
    const [, count] = /^num_ctx\s+(\d+)\s*$/m.exec(typeof parameters === 'string' ? parameters : '') ?? [];
    note(id, firstWindow(Number(count)));
  }
  KnownWindows.of(settings).keep(found);
}

/** The JSON at an address; undefined when there is none, within the time and the size. */
async function readJson(
  address: string,
  { body, apiKey, signal }: { body: object | undefined; apiKey: string | undefined; signal: AbortSignal | undefined },
): Promise<unknown> {
  try {
    getting ??= modelFetch(MAX_BYTES);
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const response = await getting(address, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    return response.status === 200 ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the windows at once and then from time to time, in the background. Nobody waits for it, and a server that is away is asked again.
 * Returns the function that ends it.
 */
export function watchServerWindows(settings: ModelSettings, everyMs = REFRESH_MS): () => void {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const read = async () => {
    await readServerWindows(settings, ending.signal);
    if (!ending.signal.aborted) timer = setTimeout(read, everyMs).unref();
  };
  if ((settings.openaiCompatible?.models.length ?? 0) > 0) void read();
  return () => {
    ending.abort();
    clearTimeout(timer);
  };
}
