import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from './children.ts';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';
import { startCommand, type World } from './world.ts';

const ROUNDS = 5;
/** Starts without Node's compiled modules. */
const FIRST_ROUNDS = 2;
/** Wait before a stop, so that the service is idle then. */
const SETTLE_MS = 200;

/** Measures the time from the start of the process to its `ready` line, with the embedded PostgreSQL, on new and on used data folders. */
export async function measureStartUp(world: World): Promise<Figure[]> {
  const command = startCommand();
  const start = async (folder: string, more: Record<string, string> = {}): Promise<number> => {
    const env = { ...command.env, PORT: '0', GUILDHALL_DATA_DIR: join(world.folder, folder), ...more };
    const service = await startChild({ ...command, env });
    await sleep(SETTLE_MS);
    await service.stop();
    return service.readyMs / 1000;
  };
  const fresh: number[] = [];
  const existing: number[] = [];
  const uncompiled: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    fresh.push(await start(`start-up-${round}`));
    existing.push(await start(`start-up-${round}`));
  }
  for (let round = 0; round < FIRST_ROUNDS; round += 1) {
    uncompiled.push(await start(`first-${round}`, { NODE_COMPILE_CACHE: join(world.folder, `compiled-${round}`) }));
  }
  const figure = (name: string, times: number[], limit?: number): Figure => ({
    measure: 'start-up',
    name,
    value: median(times),
    unit: 's',
    ...(limit === undefined ? {} : { target: { limit, is: 'at most' } }),
    note: `median of ${times.length}; ${spread(times)}`,
  });
  return [
    figure('ready, fresh data folder', fresh, 2),
    figure('ready, existing data folder', existing, 0.8),
    figure('ready, fresh data folder, first start after the installation', uncompiled),
  ];
}
