import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Target } from './latencyClient.ts';

/** The input of the client, as JSON on stdin. It writes the milliseconds of each request to stdout, as a JSON list. */
export interface NeighbourTask extends Target {
  method: 'GET' | 'POST';
  requests: number;
  /** Milliseconds between the beginnings of two requests. */
  everyMs: number;
}

/*
 * A workspace with little to do: one request after the other, with pauses. It runs in a process of its own, so that its event loop has no
 * other work.
 */
const task = JSON.parse(await text(process.stdin)) as NeighbourTask;
const agent = new Agent({ connections: 4 });
const { origin, pathname } = new URL(task.url);

async function call(): Promise<number> {
  const startedAt = performance.now();
  const body = task.method === 'POST' ? task.body : null;
  const answer = await agent.request({ origin, path: pathname, method: task.method, headers: task.headers, body });
  await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${task.url} answered ${answer.statusCode}.`);
  return performance.now() - startedAt;
}

const times: Promise<number>[] = [];
const beganAt = performance.now();
for (let made = 0; made < task.requests; made += 1) {
  times.push(call());
  await sleep(Math.max(0, beganAt + (made + 1) * task.everyMs - performance.now()));
}
process.stdout.write(JSON.stringify(await Promise.all(times)));
await agent.close();
