import type { WebSearchSettings } from '../../../integrations/webSearch/settings.ts';
import { webSearchCapability } from '../../../runtime/capabilities/webSearch.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type SearchFault, type SearchServers, startSearchServers } from '../../support/servers/searchServers.ts';
import { callTool, newScope, toolsFrom } from '../../support/turns/agentScope.ts';

/** The configuration of the server, changed by each test. */
const webSearch: WebSearchSettings = {};
let servers: SearchServers;
let app: TestApp;
beforeAll(async () => {
  servers = await startSearchServers();
  app = await startTestApp({ webSearch });
});
afterAll(async () => {
  await app.close();
  await servers.close();
});
beforeEach(() => {
  for (const server of [servers.searxng, servers.tavily, servers.brave]) {
    Object.assign(server, { pages: [PAGE], fault: undefined, queries: [], requests: 0 });
  }
});

const PAGE = { title: 'Guildhall', url: 'https://example.com/guildhall', snippet: 'A service for agents.' };
const ONLY = {
  SearXNG: ['searxng'],
  Tavily: ['tavily'],
  'Brave Search': ['brave'],
} as const;
type Service = keyof typeof ONLY;

/** `web_search` of an agent on a server with these services, and what was logged. */
async function searcher(names: readonly ('searxng' | 'tavily' | 'brave')[], timeoutMs = 10_000) {
  const chosen = (name: (typeof names)[number]) => names.includes(name) && { [name]: servers.settings[name] };
  delete webSearch.searxng;
  delete webSearch.tavily;
  delete webSearch.brave;
  Object.assign(webSearch, chosen('searxng'), chosen('tavily'), chosen('brave'), { timeoutMs });
  const logged: unknown[] = [];
  const logger = { warn: (...values: unknown[]) => void logged.push(...values) };
  const scope = await newScope(app, { snapshot: { webSearchEnabled: true }, logger });
  const search = (input: Record<string, unknown> = { query: 'guildhall' }, call = {}) =>
    callTool(toolsFrom(webSearchCapability, scope), 'web_search', input, call);
  return { search, scope, logged };
}

describe.each(Object.keys(ONLY) as Service[])('%s', (service) => {
  const [name] = ONLY[service];

  test('gets the documented request, and its results are shown with address, day and text', async () => {
    servers[name].pages = [
      { ...PAGE, date: '2026-11-02T08:30:00' },
      { title: 'Other', url: 'https://example.com/other', snippet: '' },
    ];
    const { search } = await searcher([name]);
    expect(await search({ query: '  guild  hall &q=x ', limit: 2 })).toEqual({
      isError: false,
      text: [
        'Found on the web for “guild hall &q=x”:',
        '1. Guildhall\n   https://example.com/guildhall\n   2026-11-02\n   A service for agents.',
        '2. Other\n   https://example.com/other',
      ].join('\n\n'),
    });
    expect(servers[name].queries).toEqual([{ query: 'guild hall &q=x', limit: name === 'searxng' ? undefined : 2 }]);
  });

  test('shows as many results as requested, or 5', async () => {
    servers[name].pages = Array.from({ length: 20 }, (_, index) => ({ ...PAGE, url: `https://example.com/${index}` }));
    const { search } = await searcher([name]);
    for (const [limit, expected] of [
      [undefined, 5],
      [1, 1],
      [10, 10],
      [99, 10],
      [-1, 1],
    ] as const) {
      const { text } = await search({ query: 'guildhall', ...(limit === undefined ? {} : { limit }) });
      expect(text.match(/^\d+\. /gm)).toHaveLength(expected);
    }
  });

  test.each<[string, SearchFault, string]>([
    ['too many searches', { status: 429 }, 'takes no more searches now (HTTP 429)'],
    ['a failure', { status: 500 }, 'failed (HTTP 500)'],
    ['a refusal', { status: 403 }, 'refuses access (HTTP 403)'],
    ['a page', { body: '<!doctype html><title>Sign in</title>' }, 'answered with something else than JSON'],
    ['broken JSON', { body: '{"results":[' }, 'answered with something else than JSON'],
    ['JSON of another kind', { body: '{"results":"none","web":[]}' }, 'answered in an unknown form'],
    ['JSON that is null', { body: 'null' }, 'answered in an unknown form'],
    ['too much', { bytes: 3_000_000 }, 'answered with too much'],
    ['no answer', { hangUp: true }, 'cannot be reached'],
    ['a redirect', { redirect: '/elsewhere' }, 'redirects, which is not followed'],
  ])('%s is a failure that names the service, and neither its address nor the key', async (_what, fault, reason) => {
    servers[name].fault = fault;
    const { search, logged } = await searcher([name]);
    const { text, isError } = await search();
    expect(isError).toBe(true);
    expect(text).toBe(`The web could not be searched: ${service} ${reason}. Try again later, or answer without it.`);
    expect(servers[name].requests).toBe(1);
    const log = JSON.stringify(logged, (_key, value) =>
      Error.isError(value) ? `${value.stack} ${JSON.stringify(value.cause)} ${value.cause}` : value,
    );
    expect(log).toContain(service);
    for (const secret of servers.secrets) expect(log + text).not.toContain(secret);
  });

  test('that does not answer in time is a failure, and an abort ends the call at once', async () => {
    servers[name].fault = { silence: true };
    const { search } = await searcher([name], 300);
    expect((await search()).text).toContain(`${service} did not answer in time`);
    const patient = await searcher([name], 600_000);
    const stop = new AbortController();
    const pending = patient.search({ query: 'x' }, { signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(pending).rejects.toThrow('stopped');
  });
});

describe('several services', () => {
  test('are tried in their order, the next one only when one fails', async () => {
    const { search } = await searcher(['searxng', 'tavily', 'brave']);
    const asked = () => [servers.searxng.requests, servers.tavily.requests, servers.brave.requests];
    await search();
    expect(asked()).toEqual([1, 0, 0]);
    servers.searxng.fault = { status: 500 };
    expect((await search()).isError).toBe(false);
    expect(asked()).toEqual([2, 1, 0]);
    servers.tavily.fault = { status: 432 };
    expect((await search()).isError).toBe(false);
    expect(asked()).toEqual([3, 2, 1]);
    servers.brave.fault = { status: 429 };
    expect(await search()).toEqual({
      isError: true,
      text: 'The web could not be searched: SearXNG failed (HTTP 500); Tavily takes no more searches now (HTTP 432); Brave Search takes no more searches now (HTTP 429). Try again later, or answer without it.',
    });
  });

  test('SearXNG without an answer from its engines counts as a failure', async () => {
    servers.searxng.pages = [];
    const { search } = await searcher(['searxng', 'brave']);
    expect((await search()).text).toContain('A service for agents.');
    expect(servers.brave.requests).toBe(1);
  });
});

describe('results', () => {
  test('are text without markup, on one line and of bounded length, for any response', async () => {
    servers.brave.pages = [
      {
        title: `<b>Fish &amp; chips</b>&nbsp;<script>alert(1)</script>${'a'.repeat(300)}`,
        url: 'https://example.com/1',
        snippet: `if a<b && c > d: <em>x</em>\n\n# System\u2028ignore &#x1F98A; &lt;b&gt; ${'long '.repeat(400)}`,
        date: 'the day before yesterday',
      },
    ];
    const { search } = await searcher(['brave']);
    const [title = '', address, snippet = '', ...rest] = (await search()).text.split('\n\n')[1]?.split('\n   ') ?? [];
    expect(title).toMatch(/^1\. Fish & chips a+…$/);
    expect(title).toHaveLength(203);
    expect(address).toBe('https://example.com/1');
    expect(snippet).toMatch(/^if a<b && c > d: x # System ignore 🦊 <b> long long .*…$/);
    expect(snippet.length).toBeLessThanOrEqual(800);
    expect(rest).toEqual([]);
  });

  test('that are no web pages, or duplicates, are left out', async () => {
    const urls = ['javascript:alert(1)', 'ftp://example.com', 'nonsense', `https://example.com/${'x'.repeat(2000)}`];
    const again = ['https://example.com/a', 'https://example.com/a'];
    servers.tavily.pages = [...urls, ...again].map((url, index) => ({ ...PAGE, url, snippet: `Page ${index}.` }));
    const { search } = await searcher(['tavily']);
    const { text } = await search({ query: 'x', limit: 10 });
    expect(text.match(/https?:\S+|Page \d/g)).toEqual(['https://example.com/a', 'Page 4']);
  });

  test('without the required fields are left out, and an empty list is no failure', async () => {
    servers.brave.fault = { body: '{"web":{"results":[null,5,{"title":"x"},{"url":7}]}}' };
    const { search } = await searcher(['brave']);
    expect(await search()).toEqual({ isError: false, text: 'Nothing was found on the web for “guildhall”.' });
    Object.assign(servers.brave, { fault: undefined, pages: [] });
    expect(await search()).toEqual({ isError: false, text: 'Nothing was found on the web for “guildhall”.' });
  });
});

test('queries that no service accepts are refused without a request; Brave gets at most 50 words', async () => {
  const { search } = await searcher(['brave']);
  for (const query of [undefined, 5, '', ' \n ', 'x'.repeat(401)]) {
    expect(await search({ query })).toMatchObject({ isError: true, text: expect.stringMatching(/query/) });
  }
  expect(servers.brave.requests).toBe(0);
  expect((await search({ query: 'a '.repeat(60) })).isError).toBe(false);
  expect(servers.brave.queries[0]?.query.split(' ')).toHaveLength(50);
});

describe('without a service', () => {
  test('there is no tool, and the section says so and forbids invented results', async () => {
    const { scope } = await searcher([]);
    expect(toolsFrom(webSearchCapability, scope)).toEqual([]);
    expect(webSearchCapability.section(scope)).toMatch(/^# Web search\n\n.*not configured on this server/);
    expect(webSearchCapability.section({ runtime: { webSearch: servers.settings } })).toMatch(
      /^# Web search\n\nUse `web_search`/,
    );
    expect(webSearchCapability.section({ runtime: { webSearch: servers.settings } })).not.toContain('not configured');
  });

  test('an agent without the feature has no tool', async () => {
    const { scope } = await searcher([]);
    expect(
      toolsFrom(webSearchCapability, { ...scope, snapshot: { ...scope.snapshot, webSearchEnabled: false } }),
    ).toEqual([]);
  });
});
