import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { API_PREFIX } from '../../generated/operations.ts';
import { residentBytes } from './children.ts';
import { storedMessages } from './messages.ts';
import type { Figure } from './report.ts';
import type { World } from './world.ts';

const STREAMS = 500;
const SECONDS = 12;
const GAP_MS = 200;
const SAMPLE_MS = 250;
const MEGABYTE = 1024 * 1024;

/** Measures the memory of many concurrent streams on one process. Throws when one of them is not complete. */
export async function measureStreams(world: World): Promise<Figure[]> {
  const { timedModels: models } = world;
  models.pace = { gapMs: GAP_MS, tokens: (SECONDS * 1000) / GAP_MS };
  const service = await world.startService();
  const resident = () => residentBytes(service.pid) / MEGABYTE;
  const agent = new Agent({ connections: STREAMS, headersTimeout: 0, bodyTimeout: 0 });
  const headers = { ...world.headers, 'content-type': 'application/json' };
  const before = await storedMessages(world);
  await sleep(2_000);
  const idle = resident();
  let highest = idle;
  const sampling = setInterval(() => {
    highest = Math.max(highest, resident());
  }, SAMPLE_MS);
  const one = async (): Promise<number> => {
    const startedAt = performance.now();
    const path = `${API_PREFIX}/agents/${world.agentId}/messages/stream`;
    const answer = await agent.request({ origin: service.url, path, method: 'POST', headers, body: world.message });
    let text = '';
    let first = 0;
    for await (const chunk of answer.body) {
      text += (chunk as Buffer).toString();
      if (first === 0 && text.includes('event: text-delta')) first = performance.now() - startedAt;
    }
    const deltas = text.match(/event: text-delta/g)?.length ?? 0;
    if (deltas !== models.pace.tokens || !text.includes('event: debug-info')) {
      throw new Error(`A stream of ${models.pace.tokens} tokens had ${deltas}: …${text.slice(-300)}`);
    }
    return first;
  };
  const startedAt = performance.now();
  try {
    await Promise.all(Array.from({ length: STREAMS }, one));
  } finally {
    clearInterval(sampling);
  }
  const took = (performance.now() - startedAt) / 1000;
  await agent.close();
  await service.stop();
  models.pace = { gapMs: 3, tokens: 4 };
  const after = await storedMessages(world);
  if (after.users - before.users !== STREAMS)
    throw new Error(`Of ${STREAMS} messages ${after.users - before.users} are stored.`);
  return [
    {
      measure: 'streams',
      name: `${STREAMS} streams at once: highest resident`,
      value: highest,
      unit: 'MB',
      target: { limit: 300, is: 'at most' },
      note: `idle ${idle.toFixed(0)} MB: ${(((highest - idle) * 1024) / STREAMS).toFixed(0)} KB a stream; all came whole in ${took.toFixed(1)} s, paced to ${SECONDS} s by the model`,
    },
  ];
}
