import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { API_PREFIX } from '../../generated/operations.ts';
import { type Child, startChild } from '../bench/children.ts';

/** A running service with a workspace of its own, and the key of that workspace. */
export interface Guildhall {
  origin: string;
  apiKey: string;
  /** A published agent on the built-in model. */
  replyingAgentId: string;
  /** Calls the API without a generated client. `path` begins after the prefix. Throws when the answer is an error. */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** Starts the service as `npm start` does on an empty data folder: PostgreSQL, demo workspace, HTTP on a free port. */
export async function startGuildhall(folder: string): Promise<Guildhall> {
  const logFile = join(folder, 'service.log');
  const child: Child = await startChild({
    script: 'server/main.ts',
    env: { PORT: '0', GUILDHALL_DATA_DIR: join(folder, 'data'), GUILDHALL_LOG_LEVEL: 'warn' },
    readyLine: /^ready (http\S+)$/m,
    logFile,
  });
  const printed = await readFile(logFile, 'utf8');
  const [, apiKey] = /^demo key \(shown once\) (\S+)$/m.exec(printed) ?? [];
  const [, replyingAgentId] = /^demo agent (\S+)$/m.exec(printed) ?? [];
  if (!apiKey || !replyingAgentId) {
    await child.stop();
    throw new Error('The service printed no demo agent and key.');
  }
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  return {
    origin: child.url,
    apiKey,
    replyingAgentId,
    async call(method, path, body) {
      const response = await fetch(child.url + API_PREFIX + path, {
        method,
        headers,
        body: body ? JSON.stringify(body) : null,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as Record<string, unknown>;
    },
    stop: () => child.stop(),
  };
}
