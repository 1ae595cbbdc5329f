import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A line between the service and its database that a test can cut and mend. */
export interface DatabaseProxy {
  /** The database's address through the proxy. */
  url: string;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections again, on the same port. */
  mend(): Promise<void>;
  /** Lets nothing through on the connections that are open now, and tells nobody; new ones work. With `newToo`, these are silent as well. */
  hush(newToo?: boolean): void;
  /** New connections work again; those that are silent stay so. */
  unhush(): void;
}

/** Starts one in front of the PostgreSQL of `url`. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((client) => {
    client.on('error', () => {});
    if (silent) {
      sockets.add(client);
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // A cut line is what this is for.
      socket.on('error', () => {});
    }
    client.pipe(upstream).on('close', () => client.destroy());
    upstream.pipe(client).on('close', () => upstream.destroy());
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return {
    url: through.href,
    async cut() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: () => listen(port),
    hush(newToo = false) {
      silent = newToo;
      for (const socket of sockets) socket.unpipe().pause();
    },
    unhush() {
      silent = false;
    },
  };
}
