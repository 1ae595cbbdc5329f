import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';

/** What the server answers for a name: addresses, an alias of itself, no such name, a failure of the server, or nothing at all. */
export type NameAnswer = readonly string[] | 'alias' | 'unknown' | 'failure' | 'silence';

type QueryType = 'A' | 'AAAA' | 'TXT';
const TYPES: Readonly<Record<number, QueryType>> = { 1: 'A', 16: 'TXT', 28: 'AAAA' };
const TXT = 16;
const RCODES = { alias: 0, unknown: 3, failure: 2 };
const CNAME = 5;
/** The name of the question, as a pointer to it. */
const QUESTION = Buffer.from([0xc0, 12]);

function readName(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

function addressBytes(address: string): Buffer {
  if (net.isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const words = (text: string | undefined) => (text ? text.split(':') : []);
  const missing = 8 - words(head).length - words(tail).length;
  const all = [...words(head), ...Array<string>(tail === undefined ? 0 : missing).fill('0'), ...words(tail)];
  return Buffer.from(all.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]));
}

/** A text in pieces of at most 255 bytes, each after its length. */
function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const piece = bytes.subarray(at, at + 255);
    pieces.push(Buffer.from([piece.length]), piece);
  }
  return Buffer.concat(pieces);
}

/** A name server on 127.0.0.1 that speaks DNS over UDP (RFC 1035), for tests. */
export class NameServer {
  /** Every query that came, `A name`, `AAAA name` or `TXT name`, in their order. */
  readonly queries: string[] = [];
  /** Seconds for which its answers hold. */
  ttl = 60;
  readonly #socket = dgram.createSocket('udp4');
  readonly #answer: (name: string, type: QueryType) => NameAnswer;

  /** `answer` is called for each query with the name in lower case. Addresses of the other version are left out; to TXT it answers texts. */
  constructor(answer: (name: string, type: QueryType) => NameAnswer) {
    this.#answer = answer;
    this.#socket.on('message', (message, from) => {
      const reply = this.#replyTo(message);
      if (reply) this.#socket.send(reply, from.port, from.address);
    });
  }

  /** Starts to listen. Returns `127.0.0.1:port`. */
  async start(): Promise<string> {
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async stop(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #replyTo(message: Buffer): Buffer | undefined {
    const { name, end } = readName(message);
    const type = TYPES[message.readUInt16BE(end)];
    if (type === undefined) return undefined;
    this.queries.push(`${type} ${name}`);
    const answer = this.#answer(name.toLowerCase(), type);
    if (answer === 'silence') return undefined;
    const answers = typeof answer === 'string' ? [] : answer;
    const addresses = answers.filter((address) => (type === 'A') === net.isIPv4(address));
    const records =
      answer === 'alias'
        ? [this.#record(CNAME, QUESTION)]
        : type === 'TXT'
          ? answers.map((text) => this.#record(TXT, textBytes(text)))
          : addresses.map((address) => this.#record(type === 'A' ? 1 : 28, addressBytes(address)));
    const header = Buffer.alloc(12);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? RCODES[answer] : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return Buffer.concat([header, message.subarray(12, end + 4), ...records]);
  }

  #record(type: number, data: Buffer): Buffer {
    const head = Buffer.alloc(10);
    head.writeUInt16BE(type, 0);
    head.writeUInt16BE(1, 2);
    head.writeUInt32BE(this.ttl, 4);
    head.writeUInt16BE(data.length, 8);
    return Buffer.concat([QUESTION, head, data]);
  }
}
