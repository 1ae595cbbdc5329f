import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A recorded statement. Values are in PostgreSQL's text format. */
export interface Statement {
  text: string;
  values: (string | null)[];
}

/** The statement that sets role and workspace travels ahead of others, and asks for nothing. */
const SETTINGS = /^select set_config\('role'/;

/** A proxy in front of PostgreSQL that records statements. */
export interface Wiretap {
  /** The database URL through the proxy. */
  url: string;
  /** The statements that were sent while `work` ran, in order, and the number of round trips. */
  during(work: () => Promise<void>): Promise<{ statements: Statement[]; roundTrips: number }>;
  /** Round trips since the start of the last `during`. */
  roundTrips(): number;
  close(): Promise<void>;
}

/**
 * Opens a recording proxy to the PostgreSQL of `url`. It reads the frontend/backend protocol 3 (PostgreSQL documentation, "Message
 * Formats"): Parse and Bind for extended queries, Query for simple ones, ReadyForQuery for a finished round trip.
 */
export async function tapDatabase(url: string): Promise<Wiretap> {
  const { hostname, port } = new URL(url);
  let statements: Statement[] = [];
  let roundTrips = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(port), hostname);
    const prepared = new Map<string, string>();
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        database.destroy();
      });
    }
    const sent = reader(true, (type, body) => {
      if (type === 'Q') statements.push({ text: textAt(body, 0)[0], values: [] });
      if (type === 'P') {
        const [name, at] = textAt(body, 0);
        prepared.set(name, textAt(body, at)[0]);
      }
      if (type === 'B') {
        const [name, at] = textAt(body, textAt(body, 0)[1]);
        const text = prepared.get(name) ?? '';
        if (!SETTINGS.test(text)) statements.push({ text, values: boundValues(body, at) });
      }
    });
    const received = reader(false, (type) => {
      if (type === 'Z') roundTrips += 1;
    });
    client.on('data', (chunk: Buffer) => {
      sent(chunk);
      database.write(chunk);
    });
    database.on('data', (chunk: Buffer) => {
      received(chunk);
      client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tapped = new URL(url);
  tapped.port = String((server.address() as AddressInfo).port);
  return {
    url: tapped.href,
    async during(work) {
      statements = [];
      roundTrips = 0;
      await work();
      return { statements: statements.slice(), roundTrips };
    },
    roundTrips: () => roundTrips,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Cuts a stream into messages of a type byte, a length and a body. The first message of a client has no type byte. */
function reader(startup: boolean, onMessage: (type: string, body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let first = startup;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = first ? 0 : 1;
      if (rest.length < head + 4) return;
      const end = head + rest.readUInt32BE(head);
      if (rest.length < end) return;
      if (!first) onMessage(String.fromCharCode(rest[0] ?? 0), rest.subarray(5, end));
      first = false;
      rest = rest.subarray(end);
    }
  };
}

function textAt(body: Buffer, at: number): [text: string, next: number] {
  const end = body.indexOf(0, at);
  return [body.toString('utf8', at, end), end + 1];
}

function boundValues(body: Buffer, from: number): (string | null)[] {
  let at = from + 2 + 2 * body.readUInt16BE(from); // the format codes; the driver sends text only
  const count = body.readUInt16BE(at);
  at += 2;
  const values: (string | null)[] = [];
  for (let i = 0; i < count; i += 1) {
    const length = body.readInt32BE(at);
    at += 4;
    values.push(length === -1 ? null : body.toString('utf8', at, at + length));
    at += Math.max(0, length);
  }
  return values;
}
