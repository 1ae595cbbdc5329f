import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { API_PREFIX } from '../../generated/operations.ts';
import { runScript } from './children.ts';
import type { NeighbourTask } from './neighbourClient.ts';
import type { Figure } from './report.ts';
import type { SaturatingLoad } from './saturation.ts';
import { median, quantile, spread } from './stats.ts';
import type { BenchServiceOptions, World } from './world.ts';

const CLIENT = fileURLToPath(new URL('./neighbourClient.ts', import.meta.url));
const SATURATION = fileURLToPath(new URL('./saturation.ts', import.meta.url));
const ROUNDS = 3;
/** Requests of a measurement, and the milliseconds between them: far below what one workspace alone would need. */
const READS = { requests: 300, everyMs: 20 };
const MESSAGES = { requests: 150, everyMs: 60 };
/** Time in which the saturating load comes up to speed. */
const RISE_MS = 1_500;
/** The load is to wait for the service, and not the service for the load: they share the machine's cores. */
const NICE = 15;
/** Highest p99 beside a workspace at saturation, as a multiple of that alone. */
const TARGET = 1.5;

/** The times of one workspace's requests, alone and beside another one at saturation. */
interface Round {
  alone: number[];
  beside: number[];
}

/**
 * Measures what a workspace at saturation costs another one: p99 of its reads and its messages, divided by the same without the load. The load
 * sends messages, reads, uploads and bodies that are refused, all at once and without a pause.
 */
export async function measureNeighbours(
  world: World,
  options: { service?: BenchServiceOptions } = {},
): Promise<Figure[]> {
  const models = await world.startModels();
  const service = await world.startService({ ...options.service, modelUrl: models.url });
  const base = service.url + API_PREFIX;
  const neighbour = await world.addWorkspace(service);
  const url = `${base}/agents/${neighbour.agentId}`;
  const headers = { ...neighbour.headers, 'content-type': 'application/json' };
  const tasks: [string, NeighbourTask][] = [
    ['read', { ...READS, url, method: 'GET', headers: neighbour.headers, body: '' }],
    ['message', { ...MESSAGES, url: `${url}/messages`, method: 'POST', headers, body: world.message }],
  ];
  const measure = async (task: NeighbourTask) =>
    JSON.parse(await runScript(CLIENT, [], JSON.stringify(task))) as number[];

  const rounds = new Map<string, Round[]>(tasks.map(([name]) => [name, []]));
  let load: Record<string, number> = {};
  for (let round = -1; round < ROUNDS; round += 1) {
    const alone: number[][] = [];
    for (const [, task] of tasks) alone.push(await measure(task));
    const saturation = await saturate(loadsOf(world, base));
    for (const [index, [name, task]] of tasks.entries()) {
      const beside = await measure(task);
      if (round >= 0) rounds.get(name)?.push({ alone: alone[index] ?? [], beside });
    }
    load = await saturation.stop();
  }
  await service.stop();
  await models.stop();
  return [...rounds].map(([name, all]) => figureOf(name, all, load));
}

function loadsOf(world: World, base: string): SaturatingLoad[] {
  const headers = { ...world.headers, 'content-type': 'application/json' };
  const text = 'A sentence of a document that is long enough to be read. '.repeat(400);
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field${index}`, index]));
  const post = (name: string, path: string, body: string, connections: number): SaturatingLoad => ({
    name,
    url: base + path,
    method: 'POST',
    headers,
    body,
    connections,
  });
  return [
    post('message', `/agents/${world.agentId}/messages`, world.message, 16),
    { name: 'read', url: `${base}/agents`, method: 'GET', headers: world.headers, connections: 32 },
    post('upload', '/knowledge-sources', JSON.stringify({ name: 'Notes', textContent: text }), 2),
    post('bad body', '/agents', JSON.stringify(unknown), 4),
  ];
}

async function saturate(loads: readonly SaturatingLoad[]): Promise<{ stop(): Promise<Record<string, number>> }> {
  const child = spawn(process.execPath, [SATURATION], { stdio: ['pipe', 'pipe', 'inherit'] });
  if (child.pid !== undefined) setPriority(child.pid, NICE);
  child.stdin.write(`${JSON.stringify(loads)}\n`);
  const output = text(child.stdout);
  await sleep(RISE_MS);
  return {
    async stop() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      return JSON.parse(await output) as Record<string, number>;
    },
  };
}

function figureOf(name: string, rounds: readonly Round[], load: Record<string, number>): Figure {
  const p99 = (times: readonly number[]) => quantile(times, 0.99);
  const ratios = rounds.map(({ alone, beside }) => p99(beside) / p99(alone));
  const [alone, beside] = (['alone', 'beside'] as const).map((side) => rounds.flatMap((round) => round[side]));
  const times = [alone, beside].map((all) => `${quantile(all ?? [], 0.5).toFixed(1)}/${p99(all ?? []).toFixed(1)}`);
  const answers = Object.entries(load).map(([outcome, count]) => `${outcome} ${count}`);
  return {
    measure: 'neighbours',
    name: `${name} beside a workspace at saturation: p99 / alone`,
    value: median(ratios),
    unit: '',
    target: { limit: TARGET, is: 'at most' },
    note: `p50/p99 ${times.join(' ms against ')} ms; rounds ${spread(ratios)}; the load of the last round: ${answers.join(', ')}`,
  };
}
