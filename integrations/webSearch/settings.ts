/** A SearXNG instance, which needs no key. */
export interface SearxngAccess {
  /** Its address without `/search`, and without credentials. */
  baseUrl: string;
  /** Value of the header `Authorization`, for an instance behind a proxy that asks for one. */
  authorization?: string;
}

/** A paid search service, with its key. */
export interface KeyedAccess {
  apiKey: string;
  baseUrl: string;
}

/** The services that search the web, tried in this order. None: web search is not configured. */
export interface WebSearchSettings {
  searxng?: SearxngAccess;
  tavily?: KeyedAccess;
  brave?: KeyedAccess;
  /** Timeout of a call in milliseconds; 10,000 when absent. */
  timeoutMs?: number;
}

const TAVILY = 'https://api.tavily.com';
const BRAVE = 'https://api.search.brave.com';

type Environment = Readonly<Record<string, string | undefined>>;

function address(env: Environment, name: string): URL | undefined {
  const text = env[name]?.trim();
  if (!text) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error(`${name} must be an http or https address without a query.`);
  }
  return url;
}

function base({ origin, pathname }: URL): string {
  return origin + pathname.replace(/(?<!\/)\/+$/, '');
}

function searxng(url: URL): SearxngAccess {
  const { username, password } = url;
  if (username === '' && password === '') return { baseUrl: base(url) };
  let credentials: string;
  try {
    credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    throw new Error('GUILDHALL_SEARXNG_URL must have % in its user name and password as %25.');
  }
  return { baseUrl: base(url), authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function keyed(env: Environment, key: string, baseVariable: string, usual: string): KeyedAccess | undefined {
  const url = address(env, baseVariable) ?? new URL(usual);
  const apiKey = env[key]?.trim();
  if (!apiKey) return undefined;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error(`${key} must be letters, digits and signs without spaces.`);
  return { apiKey, baseUrl: base(url) };
}

/**
 * Reads the settings from environment variables: `GUILDHALL_SEARXNG_URL` (credentials in it are sent as Basic authentication),
 * `TAVILY_API_KEY`, `BRAVE_SEARCH_API_KEY`; `TAVILY_API_BASE` and `BRAVE_SEARCH_API_BASE` replace the public addresses. Blank values
 * count as absent. Throws an Error that names the variable (never its value) when one cannot be used.
 */
export function webSearchSettingsFromEnv(env: Environment): WebSearchSettings {
  const instance = address(env, 'GUILDHALL_SEARXNG_URL');
  const tavily = keyed(env, 'TAVILY_API_KEY', 'TAVILY_API_BASE', TAVILY);
  const brave = keyed(env, 'BRAVE_SEARCH_API_KEY', 'BRAVE_SEARCH_API_BASE', BRAVE);
  return {
    ...(instance ? { searxng: searxng(instance) } : {}),
    ...(tavily ? { tavily } : {}),
    ...(brave ? { brave } : {}),
  };
}

/** Whether there is a service to search with. */
export function canSearchWeb({ searxng: one, tavily, brave }: WebSearchSettings): boolean {
  return (one ?? tavily ?? brave) !== undefined;
}
