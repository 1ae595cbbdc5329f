import { setTimeout as sleep } from 'node:timers/promises';
import { API_PREFIX } from '../../generated/operations.ts';
import type { Figure } from './report.ts';
import { quantile } from './stats.ts';
import type { World } from './world.ts';

const MODEL_DELAY_MS = 2_000;
/** More follow-ups than can be sent during the measurement. */
const FOLLOW_UPS = 900;
const SEEDERS = 16;
/** Time for turns to start before the measurement begins. */
const WARM_UP_MS = 4_000;
const MEASURED_MS = 20_000;
const PROBE_GAP_MS = 25;

/** Measures follow-ups of one workspace that are all due, with a model that takes two seconds: turns a second, and the latency of reads. */
export async function measureBackgroundTurns(world: World): Promise<Figure[]> {
  const { timedModels: models } = world;
  await makeDueFollowUps(world);
  models.delayMs = MODEL_DELAY_MS;
  const service = await world.startService();
  try {
    await sleep(WARM_UP_MS);
    const before = await sentFollowUps(world);
    let atOnce = 0;
    const times: number[] = [];
    const startedAt = performance.now();
    while (performance.now() - startedAt < MEASURED_MS) {
      const askedAt = performance.now();
      const response = await fetch(`${service.url}${API_PREFIX}/agents/${world.agentId}`, { headers: world.headers });
      await response.text();
      if (!response.ok) throw new Error(`A read beside background turns answered ${response.status}.`);
      times.push(performance.now() - askedAt);
      atOnce = Math.max(atOnce, models.running);
      await sleep(PROBE_GAP_MS);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const sent = (await sentFollowUps(world)) - before;
    return [
      {
        measure: 'background-turns',
        name: `background turns, model ${MODEL_DELAY_MS / 1000} s`,
        value: sent / seconds,
        unit: '/s',
        note: `${sent} follow-ups of one workspace in ${seconds.toFixed(0)} s, at most ${atOnce} at once`,
      },
      {
        measure: 'background-turns',
        name: 'getAgent beside background turns, p99',
        value: quantile(times, 0.99),
        unit: 'ms',
        note: `p50 ${quantile(times, 0.5).toFixed(1)} ms, ${times.length} requests one after the other`,
      },
    ];
  } finally {
    await service.stop();
    models.delayMs = 0;
    await world.query('update conversations set follow_up_at = null');
  }
}

/** Begins conversations with an agent that follows up, and makes their follow-ups due. */
async function makeDueFollowUps(world: World): Promise<void> {
  const service = await world.startService({ env: { GUILDHALL_ROLE: 'api' } });
  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(service.url + API_PREFIX + path, {
      method,
      headers: { ...world.headers, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const { publicId } = await call('POST', '/agents', { name: 'Follows up', description: 'Writes again.' });
  const followUps = {
    followUpEnabled: true,
    followUpAfterHours: 1,
    followUpIntervalMinutes: 60,
    followUpMaxAttempts: 1,
  };
  await call('PATCH', `/agents/${publicId}`, { aiModelPublicId: world.modelId, ...followUps });
  await call('POST', `/agents/${publicId}/publish`);
  let begun = 0;
  const seed = async () => {
    while (begun < FOLLOW_UPS) {
      begun += 1;
      await call('POST', `/agents/${publicId}/messages`, { content: 'Hello.' });
    }
  };
  await Promise.all(Array.from({ length: SEEDERS }, seed));
  await service.stop();
  await world.query(`update conversations set follow_up_at = now() where agent_id = '${publicId}'`);
}

async function sentFollowUps(world: World): Promise<number> {
  const [row] = await world.query<{ count: number }>(
    `select count(*)::int as count from turns where kind = 'follow_up' and status = 'done'`,
  );
  return row?.count ?? 0;
}
