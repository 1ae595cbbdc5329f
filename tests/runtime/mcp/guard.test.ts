import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { createOutgoingClient } from '../../../core/outgoing.ts';
import { discoverTools } from '../../../runtime/mcp/discover.ts';
import { McpPool } from '../../../runtime/mcp/pool.ts';
import { type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { type Answer, startRawMcp } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
let trap: net.Server;
let trapPort: number;
let trapped = 0;
const servers: TlsServer[] = [];

beforeAll(async () => {
  trap = net.createServer((socket) => {
    trapped += 1;
    socket.destroy();
  });
  trap.listen(0, '127.0.0.1');
  await once(trap, 'listening');
  trapPort = (trap.address() as AddressInfo).port;
});
afterAll(() => new Promise((done) => trap.close(done)));
beforeEach(() => {
  trapped = 0;
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A server with a public name. Each look-up of the name gives the next of `addresses`, and then always the last. */
async function publicServer(answer: Answer, addresses = ['93.184.216.34']) {
  const server = await startRawMcp(certificate, answer);
  servers.push(server);
  let asked = 0;
  const outgoing = createOutgoingClient({
    lookup: async () => [{ address: addresses[Math.min(asked++, addresses.length - 1)] ?? '', family: 4 }],
    dial: () => ({ address: '127.0.0.1', port: server.port }),
  });
  return { server, outgoing, url: 'https://mcp.example.com/mcp' };
}

const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'it was a success',
    (error: Error) => error.message,
  );

const target = { headers: { 'X-Api-Key': 'sk-secret' }, allowPrivateNetwork: false, workspaceId: null };

test('a public server is found', async () => {
  const { url, outgoing } = await publicServer(() => false);
  expect((await discoverTools({ ...target, url, outgoing })).tools).toHaveLength(1);
});

test.each([
  'https://127.0.0.1',
  'https://localhost',
  'https://[::1]',
  'https://0x7f.1',
  'https://169.254.169.254',
  'https://10.0.0.1',
])('%s is refused with a clear message', async (origin) => {
  const failure = await messageOf(discoverTools({ ...target, url: `${origin}:${trapPort}/mcp` }));
  expect(failure).toMatch(/does not lead to an address that this service may call/);
  expect(trapped).toBe(0);
});

describe('a public server that leads to loopback', () => {
  const toTrap = () => `https://127.0.0.1:${trapPort}/mcp`;
  const over = (kind: 'redirect' | 'sse-redirect' | 'sse-endpoint' | 'resume' | 'leave'): Answer => {
    return ({ method, req, res, stream }) => {
      const redirect = () => res.writeHead(307, { location: toTrap() }).end();
      if (kind === 'redirect') return redirect();
      if (kind === 'leave') return method === 'DELETE' ? redirect() : false;
      if (kind === 'resume') {
        if (method === 'GET') return redirect();
        if (method !== 'tools/list') return false;
        stream();
        return res.end('retry: 0\nid: 1\ndata:\n\n');
      }
      if (req.method === 'POST') return res.writeHead(405).end();
      if (kind === 'sse-redirect') return redirect();
      return res
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(`event: endpoint\ndata: ${toTrap()}\n\n`);
    };
  };

  test.each(['redirect', 'sse-redirect', 'sse-endpoint', 'resume', 'leave'] as const)(
    'by its %s never gets there',
    async (kind) => {
      const { url, outgoing, server } = await publicServer(over(kind));
      await messageOf(discoverTools({ ...target, url, outgoing, timeoutMs: 1500 }));
      expect(trapped).toBe(0);
      const last = { leave: 'DELETE', redirect: 'POST', resume: 'GET', 'sse-redirect': 'GET', 'sse-endpoint': 'GET' }[
        kind
      ];
      expect(server.seen.some(({ method }) => method === last)).toBe(true);
    },
  );

  test.each([1, 2])('by its name, on look-up %i, is refused there', async (publicLookups) => {
    const addresses = [...Array(publicLookups).fill('93.184.216.34'), '127.0.0.1'];
    const { url, outgoing, server } = await publicServer(() => false, addresses);
    const failure = await messageOf(discoverTools({ ...target, url, outgoing }));
    expect(failure).toBe(
      'mcp.example.com does not lead to an address that this service may call. Use a public address.',
    );
    expect(server.seen).toHaveLength(publicLookups);
  });

  test('by its name, after a redirect to itself, is refused there', async () => {
    const answer: Answer = ({ req, res }) =>
      req.url === '/mcp' ? res.writeHead(307, { location: '/b' }).end() : false;
    const { url, outgoing, server } = await publicServer(answer, ['93.184.216.34', '127.0.0.1']);
    expect(await messageOf(discoverTools({ ...target, url, outgoing }))).toMatch(/may call/);
    expect(server.seen).toHaveLength(1);
  });

  test('is refused in a call too', async () => {
    const { url, outgoing } = await publicServer(({ method, res }) =>
      method === 'tools/call' ? res.writeHead(307, { location: toTrap() }).end() : false,
    );
    const pool = new McpPool({ allowPrivateNetwork: false, outgoing });
    const server = { workspaceId: 'w', id: 's', configVersion: 1, url, headers: {} };
    const call = pool.call(server, { instanceMode: 'STATIC', tool: 'echo', arguments: {} });
    expect(await messageOf(call)).toMatch(/redirects to another address/);
    expect(trapped).toBe(0);
    await pool.close();
  });
});
