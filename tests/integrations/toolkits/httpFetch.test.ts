import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { htmlText } from '../../../integrations/toolkits/builtin/htmlText.ts';
import { callBuiltinTool } from '../../../integrations/toolkits/builtin/provider.ts';
import type { ToolContext } from '../../../integrations/toolkits/toolkits.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

let server: Server;
let origin: string;
let hits = 0;

const PAGE = `<!doctype html><html><head><title>Prices &amp; terms</title><style>p { color: red }</style>
<script>if (1 < 2) document.write("<p>never</p>")</script></head><body><!-- not <p>this</p> -->
<h1>Prices</h1><p>A <b>bold</b>
  word&nbsp;and 3 &lt; 4, &#8364;5, &#x1F600;, &unknown; R&D.</p><ul><li>One</li><li>Two</li></ul>
<table><tr><th>Plan</th><th>Cost</th></tr><tr><td>Basic</td><td>9</td></tr></table>
<a title="a > b" href="/x">Link</a><svg><text>drawn</text></svg></body></html>`;

const LARGE_PAGE = '<p>word'.repeat(280_000);

const routes: Record<string, RequestListener> = {
  '/page': (_request, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE),
  '/latin': (_request, response) =>
    response.setHeader('content-type', 'text/html; charset=ISO-8859-1').end(Buffer.from('<p>Grüße</p>', 'latin1')),
  '/meta': (_request, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(Buffer.from('<meta charset="windows-1252"><p>Grüße</p>', 'latin1')),
  '/json': (_request, response) => response.setHeader('content-type', 'application/vnd.api+json').end('{"a": 1}'),
  '/png': (_request, response) => response.setHeader('content-type', 'image/png').end(Buffer.from([137, 80, 78, 71])),
  '/gone': (_request, response) => {
    response.statusCode = 410;
    response.setHeader('content-type', 'text/plain').end('No longer here.');
  },
  '/long': (_request, response) => response.setHeader('content-type', 'text/plain').end('0123456789'.repeat(1000)),
  '/odd': (_request, response) => response.setHeader('content-type', 'text/plain').end('\0😀x'),
  '/bomb': (_request, response) =>
    response
      .setHeader('content-type', 'text/plain')
      .setHeader('content-encoding', 'gzip')
      .end(gzipSync(Buffer.alloc(20_000_000, 97))),
  '/large': (_request, response) => response.setHeader('content-type', 'text/html').end(LARGE_PAGE),
  '/headers': (request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify([request.method, request.headers])),
  '/away': (_request, response) => response.writeHead(302, { location: '/page' }).end(),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    hits += 1;
    routes[request.url ?? '']?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function fetchPage(
  args: Record<string, unknown>,
  { allowPrivateNetwork = true, signal = null as AbortSignal | null } = {},
) {
  const context = (signal ? { signal } : {}) as ToolContext;
  return callBuiltinTool('http_fetch', { name: 'fetch_page', arguments: args }, { context, allowPrivateNetwork });
}

test('a page is returned as readable text', async () => {
  const { isError, text } = await fetchPage({ url: `${origin}/page` });
  expect(isError).toBe(false);
  const [head, ...lines] = text.split('\n');
  expect(head).toBe(`Status 200, ${origin}/page, ${lines.join('\n').length - 1} characters`);
  expect(lines).toEqual([
    '',
    'Prices & terms',
    'Prices',
    'A bold word and 3 < 4, €5, 😀, &unknown; R&D.',
    '- One',
    '- Two',
    'Plan\tCost',
    'Basic\t9',
    'Link',
  ]);
});

test.each(['/latin', '/meta'])('%s is read in the charset that it names', async (path) => {
  expect((await fetchPage({ url: origin + path })).text).toContain('Grüße');
});

test('JSON comes as it is, after a redirect too', async () => {
  expect((await fetchPage({ url: `${origin}/json` })).text).toMatch(/\n\n\{"a": 1\}$/);
  expect((await fetchPage({ url: `${origin}/away` })).text).toMatch(/^Status 200, .*\/page/);
});

test('the request is a plain GET with only the name of this service', async () => {
  const { text } = await fetchPage({ url: `${origin}/headers` });
  const [method, headers] = JSON.parse(text.split('\n\n')[1] ?? '');
  expect(method).toBe('GET');
  expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
});

test('a large page is read by another thread', async () => {
  /** Microseconds of the processor that this thread needs. */
  const cost = async (work: () => unknown) => {
    const before = process.threadCpuUsage().user;
    await work();
    return process.threadCpuUsage().user - before;
  };
  const here = await cost(() => htmlText(LARGE_PAGE));
  let text = '';
  const there = await cost(async () => {
    ({ text } = await fetchPage({ url: `${origin}/large`, maxCharacters: 200 }));
  });
  expect(text).toContain('\n\nword\nword\n');
  expect(there).toBeLessThan(here / 2);
});

test('a long text comes in parts', async () => {
  const first = await fetchPage({ url: `${origin}/long`, maxCharacters: 4000 });
  expect(first.text).toContain('10000 characters, more from startAt 4000\n\n0123');
  const last = await fetchPage({ url: `${origin}/long`, startAt: 9996, maxCharacters: 4000 });
  expect(last.text).toMatch(/10000 characters\n\n6789$/);
});

test('characters that cannot be stored are replaced, also lone surrogates between two parts', async () => {
  expect((await fetchPage({ url: `${origin}/odd` })).text).toMatch(/\n\n\uFFFD😀x$/);
  expect((await fetchPage({ url: `${origin}/odd`, startAt: 2 })).text).toMatch(/\n\n\uFFFDx$/);
});

test.each([
  ['/png', /image\/png, which is no text/],
  ['/gone', /^Status 410[\s\S]*No longer here\.$/],
  ['/bomb', /larger than|too large|2000000/],
])('%s is an error result', async (path, reason) => {
  const { isError, text } = await fetchPage({ url: origin + path });
  expect(isError).toBe(true);
  expect(text).toMatch(reason);
});

test.each([
  'http://127.0.0.1:1/',
  'http://localhost/',
  'http://[::ffff:127.0.0.1]/',
  'http://169.254.169.254/latest/meta-data',
  'file:///etc/passwd',
  'ftp://example.com/',
  'no address',
])('%s is refused where private networks are not allowed', async (url) => {
  const before = hits;
  expect(await fetchPage({ url }, { allowPrivateNetwork: false })).toMatchObject({ isError: true });
  expect((await fetchPage({ url: `${origin}/page` }, { allowPrivateNetwork: false })).isError).toBe(true);
  expect(hits).toBe(before);
});

test('the signal ends it with its own reason', async () => {
  const reason = new Error('The turn is over.');
  const controller = new AbortController();
  routes['/slow'] = () => controller.abort(reason);
  await expect(fetchPage({ url: `${origin}/slow` }, { signal: controller.signal })).rejects.toBe(reason);
});

describe('htmlText', () => {
  test.each([
    ['a<b', 'a'],
    ['a<3', 'a<3'],
    ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
    ['<p>one<p>two', 'one\ntwo'],
    ['text <script>never ends', 'text'],
    ['text <!-- never ends', 'text'],
    ['text <p title="never ends', 'text'],
    ['<P>Loud</P><SCRIPT>x</SCRIPT>', 'Loud'],
    ['&toString; &constructor; &#0; &#xD800; &#99999999;', '&toString; &constructor; \uFFFD \uFFFD \uFFFD'],
    ['&Omega; &le; &frac12; &copy 2026 &nosuchname;', 'Ω ≤ ½ © 2026 &nosuchname;'],
    ['one<svg><g><svg><text>a</text></svg>b</g></svg>two<iframe src="x"/>three', 'onetwothree'],
    ['<div title="a > b">text</div>', 'text'],
    ['<table><tr><td>1<td>2</td><td>3</table>', '12\t3'],
    ['<pre>a\n  b</pre>', 'a b'],
    ['<p>İstanbul, İzmir<p>next<SCRIPT>x</SCRIPT>', 'İstanbul, İzmir\nnext'],
  ])('%j is %j', (html, text) => {
    expect(htmlText(html)).toBe(text);
  });

  test.each(['<', '<!--', '<script>', '<p title="', '&', '<a '.repeat(10), '</', '<b>', '<svg>', '<b></i>', '&amp'])(
    'reads two megabytes of %j in less than three seconds',
    async (piece) => {
      const html = piece.repeat(2_000_000 / piece.length);
      expect(await mainThreadMs(() => htmlText(html))).toBeLessThan(3000);
    },
  );
});
