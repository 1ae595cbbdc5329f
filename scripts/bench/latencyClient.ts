import { text } from 'node:stream/consumers';
import { Agent } from 'undici';

/** One of the two things that are compared. */
export interface Target {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** What the client is told on stdin. It answers with `LatencyResult` on stdout. */
export interface LatencyTask {
  service: Target;
  direct: Target;
  warmUp: number;
  requests: number;
}

/** Milliseconds of each request, in the order they were made. */
export interface LatencyResult {
  service: number[];
  direct: number[];
}

/*
 * Calls the service and the model server in turn, one connection each, by the same HTTP client. A process of its own, so
 * that nothing else waits in its event loop.
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
