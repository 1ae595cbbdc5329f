import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { API_PREFIX } from '../../generated/operations.ts';
import { type Child, startChild } from '../bench/children.ts';

/** A running service, and a workspace of it. */
export interface Guildhall {
  origin: string;
  apiKey: string;
}

/** Calls the API without a generated client. `path` begins after the prefix. Throws when the answer is an error. */
export async function callApi(
  { origin, apiKey }: Guildhall,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(origin + API_PREFIX + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Starts the service as `npm start` does on an empty data folder: PostgreSQL, demo workspace, HTTP on a free port. */
export async function startGuildhall(folder: string): Promise<Guildhall & Pick<Child, 'stop'>> {
  const logFile = join(folder, 'service.log');
  const child = await startChild({
    script: 'server/main.ts',
    env: { PORT: '0', GUILDHALL_DATA_DIR: join(folder, 'data'), GUILDHALL_LOG_LEVEL: 'warn' },
    readyLine: /^ready (http\S+)$/m,
    logFile,
  });
  const printed = await readFile(logFile, 'utf8');
  const [, apiKey] = /^demo key \(shown once\) (\S+)$/m.exec(printed) ?? [];
  if (!apiKey) {
    await child.stop();
    throw new Error('The service printed no demo key.');
  }
  return { origin: child.url, apiKey, stop: () => child.stop() };
}
