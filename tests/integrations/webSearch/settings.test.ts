import { canSearchWeb, webSearchSettingsFromEnv } from '../../../integrations/webSearch/settings.ts';

test.each([
  [{}, {}],
  [{ GUILDHALL_SEARXNG_URL: ' ', TAVILY_API_KEY: '', BRAVE_SEARCH_API_KEY: '  ' }, {}],
  [{ TAVILY_API_BASE: 'https://proxy.example.com' }, {}],
  [{ GUILDHALL_SEARXNG_URL: ' http://10.0.0.5:8080/searx/ ' }, { searxng: { baseUrl: 'http://10.0.0.5:8080/searx' } }],
  [
    { GUILDHALL_SEARXNG_URL: 'https://operator:p%40ss@search.example.com' },
    {
      searxng: {
        baseUrl: 'https://search.example.com',
        authorization: `Basic ${Buffer.from('operator:p@ss').toString('base64')}`,
      },
    },
  ],
  [{ TAVILY_API_KEY: ' tvly-1 ' }, { tavily: { apiKey: 'tvly-1', baseUrl: 'https://api.tavily.com' } }],
  [
    { TAVILY_API_KEY: 'tvly-1', TAVILY_API_BASE: 'http://127.0.0.1:9/t/' },
    { tavily: { apiKey: 'tvly-1', baseUrl: 'http://127.0.0.1:9/t' } },
  ],
  [{ BRAVE_SEARCH_API_KEY: 'BSA1' }, { brave: { apiKey: 'BSA1', baseUrl: 'https://api.search.brave.com' } }],
  [
    { BRAVE_SEARCH_API_KEY: 'BSA1', BRAVE_SEARCH_API_BASE: 'https://proxy.example.com' },
    { brave: { apiKey: 'BSA1', baseUrl: 'https://proxy.example.com' } },
  ],
])('%j is %j', (env, settings) => {
  expect(webSearchSettingsFromEnv(env)).toEqual(settings);
  expect(canSearchWeb(settings)).toBe(Object.keys(settings).length > 0);
});

test.each([
  ['GUILDHALL_SEARXNG_URL', 'search.example.com'],
  ['GUILDHALL_SEARXNG_URL', 'ftp://search.example.com'],
  ['GUILDHALL_SEARXNG_URL', 'https://search.example.com?format=secret'],
  ['GUILDHALL_SEARXNG_URL', 'https://operator:secret%zz@search.example.com'],
  ['TAVILY_API_BASE', 'secret'],
  ['TAVILY_API_KEY', 'secret\nX-Other: 1'],
  ['BRAVE_SEARCH_API_BASE', 'file:///secret'],
  ['BRAVE_SEARCH_API_KEY', 'sécret'],
])('%s that cannot be used stops the start, without being told: %s', (name, value) => {
  const error = (() => {
    try {
      return webSearchSettingsFromEnv({ [name]: value });
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toMatchObject({ message: expect.stringMatching(`^${name} must`) });
  expect(String(error)).not.toMatch(/s[eé]cret/);
});
