import { z } from 'zod';
import { guardedFetch, OutgoingFailed, type OutgoingFailure, OutgoingRefused } from '../../core/outgoing.ts';
import type { KeyedAccess, SearxngAccess, WebSearchSettings } from './settings.ts';

/** A found page. Its texts are as the service sends them. */
export interface RawResult {
  title: string;
  url: string;
  snippet: string;
  /** In the service's own format. */
  date: string | null;
}

/** A search service. `search` throws SearchFailed, or the signal's reason. */
export interface SearchService {
  name: string;
  search(query: string, limit: number, signal: AbortSignal): Promise<RawResult[]>;
}

/** A search failed. The message has neither address nor key; `cause` is for the log. */
export class SearchFailed extends Error {
  override readonly name = 'SearchFailed';
}

const TIMEOUT_MS = 10_000;
/** Responses usually have 10 to 100 KB. */
const MAX_BYTES = 2_000_000;
/** Brave accepts no more words. */
const BRAVE_WORDS = 50;

const REASONS: Readonly<Record<OutgoingFailure, string>> = {
  timeout: 'did not answer in time',
  too_large: 'answered with too much',
  dns: 'cannot be reached',
  connect: 'cannot be reached',
  tls: 'cannot be reached over a secure connection',
  redirect: 'redirects, which is not followed',
  protocol: 'gave no valid answer',
};

function reasonOfStatus(status: number): string {
  if (status === 401 || status === 403) return `refuses access (HTTP ${status})`;
  // Tavily: 432 and 433 are limits of the plan (docs.tavily.com/api-reference/endpoint/search).
  if (status === 429 || status === 432 || status === 433) return `takes no more searches now (HTTP ${status})`;
  return `failed (HTTP ${status})`;
}

interface Call {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

/** The addresses are the operator's, so private networks may be called. Redirects are not followed: keys go nowhere else. */
async function callJson(url: string, call: Call, timeoutMs: number, signal: AbortSignal): Promise<unknown> {
  let answer: Awaited<ReturnType<typeof guardedFetch>>;
  try {
    answer = await guardedFetch(url, {
      ...call,
      signal,
      timeoutMs,
      maxBytes: MAX_BYTES,
      maxRedirects: 0,
      allowPrivateNetwork: true,
      workspaceId: null,
      accept: 'application/json',
    });
  } catch (error) {
    if (error instanceof OutgoingFailed) throw new SearchFailed(REASONS[error.reason], { cause: error });
    if (error instanceof OutgoingRefused) {
      throw new SearchFailed('is at an address that cannot be called', { cause: error });
    }
    throw error;
  }
  if (answer.status !== 200) throw new SearchFailed(reasonOfStatus(answer.status));
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    throw new SearchFailed('answered with something else than JSON');
  }
}

function parsed<T>(schema: z.ZodType<T>, answer: unknown): T {
  const result = schema.safeParse(answer);
  if (!result.success) throw new SearchFailed('answered in an unknown form');
  return result.data;
}

const text = z.string().nullish();
/** Leaves out results that lack a required field. */
const list = z.array(z.unknown());

function resultsOf<T>(schema: z.ZodType<T>, items: readonly unknown[], toResult: (item: T) => RawResult): RawResult[] {
  return items.flatMap((item) => {
    const result = schema.safeParse(item);
    return result.success ? [toResult(result.data)] : [];
  });
}

const searxngAnswer = z.object({ results: list, unresponsive_engines: list.nullish() });
const searxngResult = z.object({ url: z.string(), title: text, content: text, publishedDate: text });

/**
 * SearXNG (docs.searxng.org/dev/search_api): GET /search with `q` and `format=json`, which the instance must have switched on; it
 * answers 403 else. There is no parameter for the number of results. An answer without results may mean that every search engine
 * behind it failed; those are in `unresponsive_engines`.
 */
function searxng({ baseUrl, authorization }: SearxngAccess, timeoutMs: number): SearchService {
  return {
    name: 'SearXNG',
    async search(query, _limit, signal) {
      const url = `${baseUrl}/search?${new URLSearchParams({ q: query, format: 'json' })}`;
      const call: Call = authorization === undefined ? {} : { headers: { authorization } };
      const answer = parsed(searxngAnswer, await callJson(url, call, timeoutMs, signal));
      if (answer.results.length === 0 && (answer.unresponsive_engines ?? []).length > 0) {
        throw new SearchFailed('got no answer from its search engines');
      }
      return resultsOf(searxngResult, answer.results, (one) => ({
        title: one.title ?? '',
        url: one.url,
        snippet: one.content ?? '',
        date: one.publishedDate ?? null,
      }));
    },
  };
}

const tavilyAnswer = z.object({ results: list });
const tavilyResult = z.object({ url: z.string(), title: text, content: text, published_date: text });

/**
 * Tavily (docs.tavily.com/api-reference/endpoint/search): POST /search with `Authorization: Bearer` and `query`, `max_results` (0 to
 * 20), `search_depth` (`basic` costs one credit) as JSON.
 */
function tavily({ baseUrl, apiKey }: KeyedAccess, timeoutMs: number): SearchService {
  return {
    name: 'Tavily',
    async search(query, limit, signal) {
      const call: Call = {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query, max_results: limit, search_depth: 'basic' }),
      };
      const answer = parsed(tavilyAnswer, await callJson(`${baseUrl}/search`, call, timeoutMs, signal));
      return resultsOf(tavilyResult, answer.results, (one) => ({
        title: one.title ?? '',
        url: one.url,
        snippet: one.content ?? '',
        date: one.published_date ?? null,
      }));
    },
  };
}

/** `web` is absent when nothing was found. */
const braveAnswer = z.object({ web: z.object({ results: list }).nullish() });
const braveResult = z.object({ url: z.string(), title: text, description: text, page_age: text });

/**
 * Brave (api-dashboard.search.brave.com/api-reference/web/search/get): GET /res/v1/web/search with `X-Subscription-Token`; `q` of at
 * most 400 characters and 50 words, `count` 1 to 20. Titles and descriptions are HTML, with entities and, unless
 * `text_decorations` is false, highlighted words.
 */
function brave({ baseUrl, apiKey }: KeyedAccess, timeoutMs: number): SearchService {
  return {
    name: 'Brave Search',
    async search(query, limit, signal) {
      const words = query.split(/\s+/);
      const parameters = new URLSearchParams({
        q: words.slice(0, BRAVE_WORDS).join(' '),
        count: String(limit),
        result_filter: 'web',
        text_decorations: 'false',
      });
      const url = `${baseUrl}/res/v1/web/search?${parameters}`;
      const call = { headers: { 'x-subscription-token': apiKey } };
      const answer = parsed(braveAnswer, await callJson(url, call, timeoutMs, signal));
      return resultsOf(braveResult, answer.web?.results ?? [], (one) => ({
        title: one.title ?? '',
        url: one.url,
        snippet: one.description ?? '',
        date: one.page_age ?? null,
      }));
    },
  };
}

/** The configured services in the order in which they are tried. */
export function searchServices(settings: WebSearchSettings): SearchService[] {
  const timeoutMs = settings.timeoutMs ?? TIMEOUT_MS;
  return [
    ...(settings.searxng ? [searxng(settings.searxng, timeoutMs)] : []),
    ...(settings.tavily ? [tavily(settings.tavily, timeoutMs)] : []),
    ...(settings.brave ? [brave(settings.brave, timeoutMs)] : []),
  ];
}
