import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { ResolvedAddress } from '../../core/outgoing/names.ts';
import { createOutgoingClient } from '../../core/outgoing.ts';

export const LIMITS = { timeoutMs: 5_000, maxBytes: 100_000, allowPrivateNetwork: false, workspaceId: null };
export const PRIVATE = { ...LIMITS, allowPrivateNetwork: true };
/** A public address that nobody dials in these tests: `clientFor` sends it to the local server. */
export const PUBLIC = '93.184.216.34';

export type Route = (req: http.IncomingMessage, res: http.ServerResponse) => void;
/** What the server answers, by path; emptied before each test. */
export const routes = new Map<string, Route>();
let server: http.Server;
export let base: string;
export let serverPort: number;
let trap: net.Server;
export let trapPort: number;
/** Connections that the trap got in the running test. */
export let trapConnections = 0;

/** Starts the server and the trap for a test file; nothing but a forbidden call ever connects to the trap. */
export function useServers(): void {
  beforeAll(async () => {
    server = http.createServer((req, res) => {
      const route = routes.get(new URL(req.url ?? '/', 'http://x').pathname);
      if (route) route(req, res);
      else res.writeHead(404).end('no route');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    serverPort = (server.address() as AddressInfo).port;
    base = `http://127.0.0.1:${serverPort}`;
    trap = net.createServer((socket) => {
      trapConnections += 1;
      socket.destroy();
    });
    trap.listen(0, '127.0.0.1');
    await once(trap, 'listening');
    trapPort = (trap.address() as AddressInfo).port;
  });

  afterAll(async () => {
    server.closeAllConnections();
    await Promise.all([new Promise((done) => server.close(done)), new Promise((done) => trap.close(done))]);
  });

  beforeEach(() => {
    trapConnections = 0;
    routes.clear();
  });
}

/** A client for which the host names of the table resolve as told, and public addresses end at the local server. */
export function clientFor(names: Record<string, string[] | (() => string[])>, dialled: string[] = []) {
  return createOutgoingClient({
    lookup: async (host) => {
      const answer = names[host];
      const list = typeof answer === 'function' ? answer() : answer;
      if (list === undefined) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
      return list.map((address): ResolvedAddress => ({ address, family: net.isIP(address) }));
    },
    dial: (addresses) => {
      dialled.push(...addresses.map(({ address }) => address));
      return { address: '127.0.0.1', port: serverPort };
    },
  });
}

/** The error that a call fails with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected the call to fail');
}
