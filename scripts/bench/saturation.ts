import { createInterface } from 'node:readline';
import { Agent } from 'undici';

/** Requests that are sent again and again, each on so many connections. */
export interface SaturatingLoad {
  name: string;
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  connections: number;
}

/*
 * A workspace that sends as much as it can. The first line of stdin is the list of its loads, as JSON; it prints `started http://` then,
 * and ends with SIGTERM. Then the numbers of its answers are printed: by load and status.
 */
const lines = createInterface({ input: process.stdin });
const loads = await new Promise<SaturatingLoad[]>((resolve) => {
  lines.once('line', (line) => resolve(JSON.parse(line) as SaturatingLoad[]));
});
const counts: Record<string, number> = {};
let running = true;

async function repeat({ name, url, method, headers, body = '' }: SaturatingLoad, agent: Agent): Promise<void> {
  const { origin, pathname } = new URL(url);
  while (running) {
    const answer = await agent
      .request({ origin, path: pathname, method, headers, body: method === 'POST' ? body : null })
      .catch(() => undefined);
    await answer?.body.dump().catch(() => {});
    const outcome = `${name} ${answer?.statusCode ?? 'failed'}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
}

const loops = loads.flatMap((each) => {
  const agent = new Agent({ connections: each.connections });
  return Array.from({ length: each.connections }, () => repeat(each, agent));
});
lines.once('close', () => {
  running = false;
});
await Promise.all(loops);
process.stdout.write(JSON.stringify(counts));
process.exit(0);
