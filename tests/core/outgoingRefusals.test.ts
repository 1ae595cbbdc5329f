import { redirectTarget } from '../../core/outgoing/redirect.ts';
import { createOutgoingClient, guardedFetch, OutgoingRefused } from '../../core/outgoing.ts';
import {
  clientFor,
  failureOf,
  LIMITS,
  PRIVATE,
  PUBLIC,
  routes,
  serverPort,
  trapConnections,
  trapPort,
  useServers,
} from './outgoingServers.ts';
import { LITERALS } from './outgoingVectors.ts';

useServers();

describe('addresses that are refused', () => {
  test('the trap counts a connection that is made without the guard', async () => {
    await failureOf(fetch(`http://127.1:${trapPort}/`));
    expect(trapConnections).toBe(1);
  });

  test.each(LITERALS)('%s: %s', async (_why, url) => {
    const error = await failureOf(guardedFetch(url.replaceAll('P', String(trapPort)), LIMITS));
    expect(error).toBeInstanceOf(OutgoingRefused);
    expect(trapConnections).toBe(0);
  });

  const RESERVED = [
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['0.0.0.0'],
    ['::'],
    ['10.1.2.3'],
    ['172.16.0.1'],
    ['192.168.0.1'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['fd00::1'],
    ['fe80::1%eth0'],
    ['64:ff9b::10.0.0.1'],
    ['2002:0a00:0001::1'],
    ['224.0.0.1'],
    [PUBLIC, '127.0.0.1'],
    ['10.0.0.1', PUBLIC],
    ['not an address'],
  ];

  test.each(RESERVED.map((list) => [list.join(' and '), list] as const))(
    'a name that resolves to %s',
    async (_title, list) => {
      const dialled: string[] = [];
      const { guardedFetch } = clientFor({ 'rebind.example.com': list }, dialled);
      const error = await failureOf(guardedFetch('http://rebind.example.com/', LIMITS));
      expect(error).toBeInstanceOf(OutgoingRefused);
      expect(error.message).toContain('rebind.example.com');
      for (const address of list) expect(error.message).not.toContain(address);
      expect(dialled).toEqual([]);
    },
  );

  test('a name of the real resolver that leads to loopback never reaches the trap', async () => {
    const { guardedFetch: real } = createOutgoingClient({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
    expect(await failureOf(real(`http://a.example.com:${trapPort}/`, LIMITS))).toBeInstanceOf(OutgoingRefused);
    expect(trapConnections).toBe(0);
  });

  test('a name that changes its answer between check and connection is connected at the checked address', async () => {
    let asked = 0;
    const dialled: string[] = [];
    const { guardedFetch } = clientFor(
      {
        'rebind.example.com': () => {
          asked += 1;
          return asked === 1 ? [PUBLIC] : ['127.0.0.1'];
        },
      },
      dialled,
    );
    routes.set('/', (_req, res) => res.end('first'));
    expect(String((await guardedFetch('http://rebind.example.com/', LIMITS)).body)).toBe('first');
    expect({ asked, dialled }).toEqual({ asked: 1, dialled: [PUBLIC] });
    expect(await failureOf(guardedFetch('http://rebind.example.com/', LIMITS))).toBeInstanceOf(OutgoingRefused);
    expect(dialled).toEqual([PUBLIC]);
  });

  test('without the seam the socket connects to the one answer that was checked', async () => {
    let asked = 0;
    const { guardedFetch } = createOutgoingClient({
      lookup: async () => {
        asked += 1;
        return [{ address: asked === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }];
      },
    });
    routes.set('/', (req, res) => res.end(req.headers.host));
    const response = await guardedFetch(`http://rebind.example.com:${serverPort}/`, PRIVATE);
    expect(String(response.body)).toBe(`rebind.example.com:${serverPort}`);
    expect(asked).toBe(1);
  });

  test('with private networks allowed metadata, multicast and the unspecified address stay refused', async () => {
    for (const host of ['169.254.169.254', '[fe80::1]', '[fd00:ec2::254]', '100.100.100.200', '0.0.0.0', '224.0.0.1']) {
      expect(await failureOf(guardedFetch(`http://${host}:${trapPort}/`, PRIVATE))).toBeInstanceOf(OutgoingRefused);
    }
    expect(trapConnections).toBe(0);
  });

  test('a host that mixes a private and a metadata address is refused with private networks allowed', async () => {
    const { guardedFetch } = clientFor({ 'two.example.com': ['10.0.0.1', '169.254.169.254'] });
    expect(await failureOf(guardedFetch('http://two.example.com/', PRIVATE))).toBeInstanceOf(OutgoingRefused);
  });
});

describe('redirects that are refused', () => {
  /** As a Location these are relative to the first host, or cannot be sent in a header. */
  const NOT_ABSOLUTE = ['no scheme', 'no slashes', 'relative', 'empty', 'tab and newline inside', 'white space around'];

  test.each(LITERALS.filter(([why]) => !NOT_ABSOLUTE.includes(why)))(
    'to %s are refused without a connection',
    async (_why, url) => {
      const dialled: string[] = [];
      const { guardedFetch } = clientFor({ 'start.example.com': [PUBLIC], localhost: ['127.0.0.1'] }, dialled);
      // Header text is Latin-1: the raw UTF-8 bytes go out, as careless servers send them.
      const location = Buffer.from(url.replaceAll('P', String(trapPort)), 'utf8').toString('latin1');
      routes.set('/', (req) =>
        req.socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`, 'latin1'),
      );
      const error = await failureOf(guardedFetch('http://start.example.com/', LIMITS));
      expect(error).toBeInstanceOf(OutgoingRefused);
      expect(error.message).toContain('start.example.com');
      expect(error.message).not.toMatch(/127\.0\.0\.1|169\.254|10\.0\.0/);
      expect(dialled).toEqual([PUBLIC]);
      expect(trapConnections).toBe(0);
    },
  );

  test('to a name that resolves to a private address are refused without naming it', async () => {
    const dialled: string[] = [];
    const { guardedFetch } = clientFor(
      { 'start.example.com': [PUBLIC], 'internal.example.com': ['10.0.0.1'] },
      dialled,
    );
    routes.set('/', (_req, res) => res.writeHead(302, { location: 'http://internal.example.com/' }).end());
    const error = await failureOf(guardedFetch('http://start.example.com/', LIMITS));
    expect(error).toBeInstanceOf(OutgoingRefused);
    expect(error.message).not.toContain('internal');
    expect(dialled).toEqual([PUBLIC]);
  });

  test('from https to http are refused', () => {
    const from = new URL('https://a.example.com/x');
    expect(() => redirectTarget('http://a.example.com/', from, 'a.example.com', false)).toThrow(OutgoingRefused);
    expect(redirectTarget('/y', from, 'a.example.com', false).href).toBe('https://a.example.com/y');
    expect(redirectTarget('https://b.example.com/\u00c3\u00a9', from, 'a.example.com', false).href).toBe(
      'https://b.example.com/%C3%A9',
    );
  });
});
