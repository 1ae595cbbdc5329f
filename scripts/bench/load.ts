import { createRequire } from 'node:module';
import { runScript } from './children.ts';

const require = createRequire(import.meta.url);
const AUTOCANNON = require.resolve('autocannon/autocannon.js');

/** A request of a load. */
export interface LoadRequest {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** The size of a load: the number of connections, each with one request at a time, and whole seconds. */
export interface LoadSize {
  connections: number;
  seconds: number;
}

/** The result of a load in which every response was a 2xx. */
export interface LoadResult {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
}

/** Runs autocannon in a process of its own. Throws when a request did not get a 2xx response. */
export async function load(request: LoadRequest, size: LoadSize): Promise<LoadResult> {
  const args = ['--json', '--no-progress', '--latency', '--connections', String(size.connections)];
  args.push('--duration', String(size.seconds));
  for (const [name, value] of Object.entries(request.headers ?? {})) args.push('--headers', `${name}=${value}`);
  if (request.method) args.push('--method', request.method);
  if (request.body !== undefined) args.push('--body', request.body);
  const output = JSON.parse(await runScript(AUTOCANNON, [...args, request.url])) as Record<string, unknown>;
  const answered = Number(output['2xx']);
  const { duration, latency } = output as { duration: number; latency: { p50: number; p99: number } };
  if (output.non2xx !== 0 || output.errors !== 0 || output.timeouts !== 0 || !(answered > 0)) {
    const { non2xx, errors, timeouts, statusCodeStats } = output;
    throw new Error(
      `${request.url} did not answer all requests: ${JSON.stringify({ non2xx, errors, timeouts, statusCodeStats })}`,
    );
  }
  return { requests: answered, perSecond: answered / duration, p50: latency.p50, p99: latency.p99 };
}
