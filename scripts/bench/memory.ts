import { setTimeout as sleep } from 'node:timers/promises';
import { API_PREFIX } from '../../generated/operations.ts';
import { residentBytes } from './children.ts';
import { load } from './load.ts';
import { checkStored, storedMessages } from './messages.ts';
import type { Figure } from './report.ts';
import type { World } from './world.ts';

const IDLE_MS = 3_000;
const SAMPLE_MS = 500;
const CONNECTIONS = 16;
const MEGABYTE = 1024 * 1024;

/** Measures the resident memory of the service's process: idle after its start, and after a load of messages and reads. */
export async function measureMemory(world: World, seconds: number): Promise<Figure[]> {
  const models = await world.startModels();
  const service = await world.startService({ modelUrl: models.url });
  const resident = () => residentBytes(service.pid) / MEGABYTE;
  await sleep(IDLE_MS);
  const idle = resident();

  const base = `${service.url}${API_PREFIX}/agents`;
  const { headers } = world;
  const before = await storedMessages(world);
  let highest = idle;
  const sampling = setInterval(() => {
    highest = Math.max(highest, resident());
  }, SAMPLE_MS);
  const results = await Promise.all([
    load(
      {
        url: `${base}/${world.agentId}/messages`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: world.message,
      },
      { connections: CONNECTIONS, seconds },
    ),
    load({ url: base, headers }, { connections: 8, seconds }),
    load({ url: `${base}/${world.agentId}`, headers }, { connections: 8, seconds }),
  ]).finally(() => clearInterval(sampling));
  const loaded = resident();
  highest = Math.max(highest, loaded);
  await service.stop();
  await models.stop();
  await checkStored(world, before, results[0].requests, CONNECTIONS);
  const [messages, lists, gets] = results.map(({ perSecond }) => perSecond.toFixed(0));
  return [
    {
      measure: 'memory',
      name: 'resident, idle',
      value: idle,
      unit: 'MB',
      target: { limit: 150, is: 'at most' },
      note: `${IDLE_MS / 1000} s after the start`,
    },
    {
      measure: 'memory',
      name: `resident, after ${seconds} s of load`,
      value: loaded,
      unit: 'MB',
      target: { limit: 300, is: 'at most' },
      note: `highest ${highest.toFixed(0)} MB; a second: ${messages} messages, ${gets} agents, ${lists} lists`,
    },
  ];
}
