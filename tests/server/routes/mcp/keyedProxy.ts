import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A way to a service for programs that cannot send a key: everything is passed on as it is, with the key. */
export interface KeyedProxy {
  origin: string;
  close(): Promise<void>;
}

/** Starts it on a port of its own. `target` is the address of the service. */
export async function startKeyedProxy(target: string, apiKey: string): Promise<KeyedProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, 'x-api-key': apiKey };
    const { method, url } = incoming;
    const passed = request({ hostname, port, method, path: url, headers, setHost: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${own.port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
