import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { WebSearchSettings } from '../../../integrations/webSearch/settings.ts';

/*
 * SearXNG, Tavily and Brave Search on local ports, each with the request that it documents and none other:
 * docs.searxng.org/dev/search_api, docs.tavily.com/api-reference/endpoint/search,
 * api-dashboard.search.brave.com/api-reference/web/search/get. A request that does not fit is answered as the service does.
 */

/** A page that a service finds. */
export interface Page {
  title: string;
  url: string;
  snippet: string;
  /** As the service writes dates. */
  date?: string;
}

/** How a service misbehaves until a test changes it. */
export type SearchFault =
  | { status: number }
  | { body: string }
  | { silence: true }
  | { hangUp: true }
  | { bytes: number }
  | { redirect: string };

/** A running service. Its pages and fault are to be changed at will. */
export interface SearchServer {
  baseUrl: string;
  pages: Page[];
  fault: SearchFault | undefined;
  /** What was asked for, of requests that fit. */
  queries: { query: string; limit: number | undefined }[];
  /** Requests that fit or not. */
  requests: number;
}

/** The three, and the settings to search with all of them. */
export interface SearchServers {
  searxng: SearchServer;
  tavily: SearchServer;
  brave: SearchServer;
  settings: Required<WebSearchSettings>;
  /** Keys and credentials, none of which must be seen anywhere. */
  secrets: string[];
  close(): Promise<void>;
}

const TAVILY_KEY = 'tvly-secret-0123456789';
const BRAVE_KEY = 'BSA-secret-0123456789';
const SEARXNG_LOGIN = `Basic ${Buffer.from('operator:pass word').toString('base64')}`;

type Answer = { status: number; body: unknown };
type Respond = (server: SearchServer, request: IncomingMessage, url: URL, body: string) => Answer;

async function start(respond: Respond): Promise<{ server: SearchServer; http: Server }> {
  const http = createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: SearchServer = { baseUrl, pages: [], fault: undefined, queries: [], requests: 0 };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    server.requests += 1;
    const body = await text(request).catch(() => '');
    const { fault } = server;
    if (fault === undefined) {
      const made = respond(server, request, new URL(request.url ?? '/', baseUrl), body);
      const packed = gzipSync(JSON.stringify(made.body));
      response.writeHead(made.status, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed);
    } else if ('hangUp' in fault) request.socket.destroy();
    else if ('status' in fault) {
      response.writeHead(fault.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: `key ${JSON.stringify(request.headers)} is no good` }));
    } else if ('body' in fault) response.writeHead(200, { 'content-type': 'text/html' }).end(fault.body);
    else if ('redirect' in fault) response.writeHead(302, { location: fault.redirect }).end();
    else if ('bytes' in fault) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"results":["${'x'.repeat(fault.bytes)}"]}`);
    }
  }
  return { server, http };
}

const searxng: Respond = (server, { method, headers }, { pathname, searchParams }) => {
  if (headers.authorization !== SEARXNG_LOGIN) return { status: 401, body: 'login' };
  if (method !== 'GET' || pathname !== '/searx/search') return { status: 404, body: 'not found' };
  const query = searchParams.get('q') ?? '';
  if (query === '') return { status: 400, body: 'No query' };
  // A format that is not switched on is refused, HTML is the default.
  if (searchParams.get('format') !== 'json') return { status: 403, body: 'Forbidden' };
  server.queries.push({ query, limit: undefined });
  const results = server.pages.map(({ title, url, snippet, date }) => ({
    url,
    title,
    content: snippet,
    publishedDate: date ?? null,
    engine: 'mojeek',
    engines: ['mojeek'],
    template: 'default.html',
    parsed_url: [],
    positions: [1],
    score: 1,
    category: 'general',
  }));
  const unresponsive = results.length === 0 ? [['google', 'CAPTCHA']] : [];
  const rest = { answers: [], corrections: [], infoboxes: [], suggestions: [], unresponsive_engines: unresponsive };
  return { status: 200, body: { query, number_of_results: 0, results, ...rest } };
};

const tavily: Respond = (server, { method, headers }, { pathname }, body) => {
  if (method !== 'POST' || pathname !== '/search') return { status: 404, body: { detail: 'Not Found' } };
  if (headers.authorization !== `Bearer ${TAVILY_KEY}`) {
    return { status: 401, body: { detail: { error: 'Unauthorized: missing or invalid API key.' } } };
  }
  const wrong = { status: 400, body: { detail: { error: 'Invalid request' } } };
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) return { ...wrong, status: 422 };
  const { query, max_results: limit = 5, search_depth: depth = 'basic', ...others } = JSON.parse(body);
  if (typeof query !== 'string' || query === '' || query.length > 400) return wrong;
  if (!Number.isInteger(limit) || limit < 0 || limit > 20 || depth !== 'basic') return wrong;
  if (Object.keys(others).length > 0) return wrong;
  server.queries.push({ query, limit });
  const results = server.pages.slice(0, limit).map(({ title, url, snippet, date }) => ({
    title,
    url,
    content: snippet,
    score: 0.9,
    raw_content: null,
    ...(date === undefined ? {} : { published_date: date }),
  }));
  return { status: 200, body: { query, answer: null, images: [], results, response_time: '1.1', request_id: 'r1' } };
};

const brave: Respond = (server, { method, headers }, { pathname, searchParams }) => {
  if (method !== 'GET' || pathname !== '/res/v1/web/search') return { status: 404, body: { type: 'ErrorResponse' } };
  const wrong = { status: 422, body: { type: 'ErrorResponse', error: { status: 422, code: 'VALIDATION' } } };
  if (headers['x-subscription-token'] !== BRAVE_KEY) {
    return { status: 422, body: { type: 'ErrorResponse', error: { code: 'SUBSCRIPTION_TOKEN_INVALID' } } };
  }
  const query = searchParams.get('q') ?? '';
  const limit = Number(searchParams.get('count') ?? 20);
  if (query === '' || query.length > 400 || query.split(/\s+/).length > 50) return wrong;
  if (!Number.isInteger(limit) || limit < 1 || limit > 20) return wrong;
  const marked = searchParams.get('text_decorations') !== 'false';
  server.queries.push({ query, limit });
  const results = server.pages.slice(0, limit).map(({ title, url, snippet, date }) => ({
    type: 'search_result',
    title,
    url,
    description: marked ? `<strong>${snippet}</strong>` : snippet,
    family_friendly: true,
    language: 'en',
    ...(date === undefined ? {} : { page_age: date, age: '2 days ago' }),
  }));
  const found = results.length === 0 ? {} : { web: { type: 'search', results, family_friendly: true } };
  return { status: 200, body: { type: 'search', query: { original: query, more_results_available: false }, ...found } };
};

/** Starts the three, without pages. */
export async function startSearchServers(): Promise<SearchServers> {
  const started = await Promise.all([start(searxng), start(tavily), start(brave)]);
  const [one, two, three] = started.map(({ server }) => server) as [SearchServer, SearchServer, SearchServer];
  return {
    searxng: one,
    tavily: two,
    brave: three,
    settings: {
      searxng: { baseUrl: `${one.baseUrl}/searx`, authorization: SEARXNG_LOGIN },
      tavily: { baseUrl: two.baseUrl, apiKey: TAVILY_KEY },
      brave: { baseUrl: three.baseUrl, apiKey: BRAVE_KEY },
      timeoutMs: 10_000,
    },
    secrets: [TAVILY_KEY, BRAVE_KEY, SEARXNG_LOGIN.slice(6)],
    async close() {
      await Promise.all(
        started.map(({ http }) => {
          http.closeAllConnections();
          return new Promise((resolve) => http.close(resolve));
        }),
      );
    },
  };
}
