import { text } from 'node:stream/consumers';
import { Agent } from 'undici';

/** One of the two servers that are compared. */
export interface Target {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The input of the client, as JSON on stdin. It writes a `LatencyResult` to stdout. */
export interface LatencyTask {
  service: Target;
  direct: Target;
  warmUp: number;
  requests: number;
}

/** Milliseconds of each request, in order. */
export interface LatencyResult {
  service: number[];
  direct: number[];
}

/*
 * Calls the service and the model server in turn with the same HTTP client, one connection each. It runs in a process of its own, so that
 * its event loop has no other work.
 */
const task = JSON.parse(await text(process.stdin)) as LatencyTask;
const agent = new Agent({ connections: 1 });

async function call({ url, headers, body }: Target): Promise<number> {
  const { origin, pathname } = new URL(url);
  const startedAt = performance.now();
  const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
  await answer.body.text();
  const took = performance.now() - startedAt;
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}.`);
  return took;
}

const result: LatencyResult = { service: [], direct: [] };
for (let i = -task.warmUp; i < task.requests; i += 1) {
  const direct = await call(task.direct);
  const service = await call(task.service);
  if (i < 0) continue;
  result.direct.push(direct);
  result.service.push(service);
}
await agent.close();
process.stdout.write(JSON.stringify(result));
