import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { firstError, isInstalled, run } from '../sdkCheck/commandLine.ts';

/** Stripe's own mock of its API: it checks each request against Stripe's OpenAPI document. It keeps no state. */
const MODULE = 'github.com/stripe/stripe-mock';
const VERSION = 'v0.203.0';
const START_MS = 30_000;

/** A running stripe-mock. */
export interface StripeMock {
  /** For STRIPE_API_BASE. */
  origin: string;
  /** How many requests it got. */
  requests(): number;
  /** Those that it answered with an error: method, path, status and what it said. */
  refusals(): readonly string[];
  stop(): Promise<void>;
}

/** The program: one that was installed before, or else installed into `folder` with Go. Returns the reason when there is none. */
export async function findStripeMock(folder: string): Promise<{ program: string } | { reason: string }> {
  const bin = join(folder, VERSION);
  const program = join(bin, 'stripe-mock');
  if (existsSync(program)) return { program };
  if (!isInstalled('go')) return { reason: 'Go is not installed; stripe-mock is built with it' };
  await mkdir(bin, { recursive: true });
  const { ok, output } = await run({
    line: ['go', 'install', `${MODULE}@${VERSION}`],
    folder: bin,
    env: { GOBIN: bin, GOFLAGS: '-mod=mod' },
  });
  if (ok) return { program };
  return { reason: `stripe-mock could not be installed: ${firstError(output)}` };
}

/** Starts it on a free port of 127.0.0.1. Throws an Error when it ends or does not answer. */
export async function startStripeMock(program: string): Promise<StripeMock> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(program, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' });
  let failure: string | undefined;
  child.once('error', ({ message }) => {
    failure = message;
  });
  child.once('exit', (code) => {
    failure = `it ended with ${code}`;
  });
  const stop = () => end(child);
  process.once('exit', stop);
  const deadline = Date.now() + START_MS;
  while (failure === undefined && Date.now() < deadline) {
    // It answers 401 without a key.
    if (await fetch(`${origin}/v1/products`).catch(() => undefined)) return await watched(port, stop);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  stop();
  throw new Error(`stripe-mock did not start: ${failure ?? 'it does not answer'}`);
}

/** Stands before it and notes what it refuses: the provider takes some refusals for an answer. */
async function watched(port: number, stop: () => void): Promise<StripeMock> {
  let requests = 0;
  const refusals: string[] = [];
  const server = createHttpServer((request, response) => {
    requests += 1;
    const { method, url: path, headers } = request;
    const forward = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      const { statusCode = 500 } = answer;
      response.writeHead(statusCode, answer.headers);
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const said = Buffer.concat(parts);
        if (statusCode >= 400) refusals.push(`${method} ${path} ${statusCode}: ${said.toString().slice(0, 1000)}`);
        response.end(said);
      });
    });
    forward.once('error', (error) => {
      refusals.push(`${method} ${path}: ${error.message}`);
      response.destroy();
    });
    request.pipe(forward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    refusals: () => refusals,
    async stop() {
      stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function end(child: ChildProcess): void {
  if (child.exitCode === null) child.kill('SIGTERM');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
