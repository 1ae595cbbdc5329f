import { once } from 'node:events';
import net from 'node:net';
import { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { ResolvedAddress } from '../../../core/outgoing/names.ts';
import { ToolFailure } from '../failure.ts';
import type { DatabaseTarget } from './connection.ts';

/** A connection to a database server, before the first message of the protocol. */
export type Wire = net.Socket | tls.TLSSocket;

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const CANCEL_REQUEST_CODE = 80877102;
const HEADER_LENGTH = 5;
const ERROR = 0x45;
const NOTICE = 0x4e;

/** The server sent more bytes than the caller accepts. */
export class TooMuchData extends Error {
  override readonly name = 'TooMuchData';
}

/**
 * Opens a connection to one of the addresses, which must have been checked, with the target's TLS mode. `signal` applies until
 * the promise settles. Throws ToolFailure when the target's TLS mode cannot be had, and errors of the socket.
 */
export async function openWire(
  target: DatabaseTarget,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
): Promise<Wire> {
  signal.throwIfAborted();
  const socket = net.connect({
    host: target.host,
    port: target.port,
    noDelay: true,
    autoSelectFamily: true,
    lookup: (_host, options, done) => {
      const [first = { address: '', family: 4 }] = addresses;
      if (options.all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    },
  });
  // The code that waits gets an error by itself; without a listener an error at any other time would end the process.
  socket.on('error', () => {});
  let wire: Wire = socket;
  const giveUp = () => wire.destroy();
  signal.addEventListener('abort', giveUp);
  try {
    await once(socket, 'connect', { signal });
    if (target.sslMode !== 'disable' && (await wantsTls(socket, target, signal))) {
      wire = tls.connect({ socket, ...tlsOptions(target) });
      wire.on('error', () => {});
      await once(wire, 'secureConnect', { signal });
    }
    return wire;
  } catch (error) {
    giveUp();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** Asks the server whether it supports TLS. Returns false when it does not and the target allows that. */
async function wantsTls(socket: net.Socket, target: DatabaseTarget, signal: AbortSignal): Promise<boolean> {
  socket.write(SSL_REQUEST);
  const ended = once(socket, 'end', { signal }).then(() => [Buffer.alloc(0)]);
  const [answer] = (await Promise.race([once(socket, 'data', { signal }), ended])) as [Buffer];
  socket.pause();
  const character = answer.toString('latin1');
  if (character === 'S') return true;
  // More than one byte was injected by a man in the middle (CVE-2021-23222), or is an error in the old protocol.
  if (character !== 'N') throw new ToolFailure('The server of the connection does not answer as PostgreSQL does.');
  if (target.sslMode === 'prefer' && !target.channelBinding) return false;
  throw new ToolFailure('The database does not offer TLS, which the connection asks for.');
}

function tlsOptions({ host, sslMode }: DatabaseTarget): tls.ConnectionOptions {
  return {
    // A server name must not be an IP address (RFC 6066, 3).
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    rejectUnauthorized: sslMode === 'verify-ca' || sslMode === 'verify-full',
    checkServerIdentity: (_name, certificate) =>
      sslMode === 'verify-full' ? tls.checkServerIdentity(host, certificate) : undefined,
  };
}

/**
 * Asks a server, over a separate connection, to cancel what a session runs (PostgreSQL documentation, 54.2.9). The server closes
 * that connection when it has forwarded the request; there is no other response.
 */
export async function sendCancel(
  wire: Wire,
  session: { processId: number; secretKey: number },
  signal: AbortSignal,
): Promise<void> {
  const message = Buffer.alloc(16);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(CANCEL_REQUEST_CODE, 4);
  message.writeInt32BE(session.processId, 8);
  message.writeInt32BE(session.secretKey, 12);
  const closed = once(wire, 'close', { signal });
  wire.resume().write(message);
  try {
    await closed;
  } finally {
    wire.destroy();
  }
}

/**
 * A wire as a stream for the driver. The driver trusts the server: a message with a field that does not end makes it read for
 * ever, and an error in its handlers would end the process. But the server is a tenant's. So each message is buffered until it is
 * complete and checked, at most `maxBytes` are read, and an error of the driver ends the connection.
 */
export class DriverStream extends Duplex {
  readonly getPeerCertificate: (() => tls.PeerCertificate) | undefined;
  readonly #wire: Wire;
  #left: number;
  /** The received part of an incomplete message, its size, and the size at which it is worth reading again. */
  #parts: Buffer[] = [];
  #held = 0;
  #wanted = HEADER_LENGTH;

  constructor(wire: Wire, maxBytes: number) {
    super();
    this.#wire = wire;
    this.#left = maxBytes;
    this.getPeerCertificate = wire instanceof tls.TLSSocket ? () => wire.getPeerCertificate() : undefined;
    wire.on('data', (chunk: Buffer) => this.#receive(chunk));
    wire.on('end', () => this.push(null));
    wire.on('error', (error) => this.destroy(error));
    wire.on('close', () => this.destroy());
  }

  /** Called by the driver. The wire is connected already. */
  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  /** Called by the driver. `openWire` has set it already. */
  setNoDelay(): this {
    return this;
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    try {
      return super.emit(event, ...args);
    } catch (error) {
      this.destroy(error as Error);
      return true;
    }
  }

  #receive(chunk: Buffer): void {
    this.#left -= chunk.length;
    if (this.#left < 0) {
      this.destroy(new TooMuchData('The server sent more than was asked for.'));
      return;
    }
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return;
    let rest = Buffer.concat(this.#parts);
    this.#wanted = HEADER_LENGTH;
    while (rest.length >= HEADER_LENGTH) {
      const end = 1 + rest.readUInt32BE(1);
      if (rest.length < end) {
        this.#wanted = end;
        break;
      }
      const message = rest.subarray(0, end);
      if (!isSound(message)) {
        this.destroy(new Error('A message of the server is not complete.'));
        return;
      }
      rest = rest.subarray(end);
      if (!this.push(message)) this.#wire.pause();
    }
    this.#parts = [rest];
    this.#held = rest.length;
  }

  override _read(): void {
    this.#wire.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#wire.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#wire.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.#wire.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#wire.destroy();
    done(error);
  }
}

/**
 * Whether a message has a complete header, and whether the fields of an error or a notice end within it. Each field is a type
 * byte and a text with a NUL at its end; another NUL follows the last field.
 */
function isSound(message: Buffer): boolean {
  if (message.length < HEADER_LENGTH) return false;
  if (message[0] !== ERROR && message[0] !== NOTICE) return true;
  let at = HEADER_LENGTH;
  while (at < message.length && message[at] !== 0) {
    const end = message.indexOf(0, at + 1);
    if (end < 0) return false;
    at = end + 1;
  }
  return at < message.length;
}
