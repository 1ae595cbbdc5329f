import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from './children.ts';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';
import { SERVICE, SERVICE_READY, type World } from './world.ts';

const ROUNDS = 5;
/** The next start finds a service that had come to rest before it was stopped. */
const SETTLE_MS = 200;

/** From the start of the process to its `ready` line, with the embedded PostgreSQL, on new and on used data folders. */
export async function measureStartUp(world: World): Promise<Figure[]> {
  const fresh: number[] = [];
  const existing: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const env = { PORT: '0', GUILDHALL_DATA_DIR: join(world.folder, `start-up-${round}`) };
    for (const times of [fresh, existing]) {
      const service = await startChild({ script: SERVICE, env, readyLine: SERVICE_READY });
      times.push(service.readyMs);
      await sleep(SETTLE_MS);
      await service.stop();
    }
  }
  const figure = (name: string, times: number[], limit: number): Figure => ({
    measure: 'start-up',
    name,
    value: median(times) / 1000,
    unit: 's',
    target: { limit, is: 'at most' },
    note: `median of ${ROUNDS}; ${spread(times.map((time) => time / 1000))}`,
  });
  return [figure('ready, fresh data folder', fresh, 2), figure('ready, existing data folder', existing, 0.8)];
}
