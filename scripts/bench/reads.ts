import { API_PREFIX } from '../../server/app.ts';
import { type Child, processorMs } from './children.ts';
import { load } from './load.ts';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';
import type { ServiceOptions, World } from './world.ts';

const CONNECTIONS = 32;
const ROUNDS = 6;
const SECONDS = 1;
const WARM_UP_SECONDS = 2;

/** Reads a second, compared with the bare server in alternating rounds. `variants` adds what explains the difference. */
export async function measureReads(world: World, options: { variants: boolean; service?: ServiceOptions }): Promise<Figure[]> {
  const service = await world.startService(options.service);
  const bare = await world.startBare(service, true);
  const quiet = options.variants ? await world.startService({ env: { GUILDHALL_LOG_LEVEL: 'warn' } }) : undefined;
  const unprepared = options.variants ? await world.startBare(service, false) : undefined;
  const figures: Figure[] = [];
  for (const [name, path] of [
    ['GET /agents/{id}', `/agents/${world.agentId}`],
    ['GET /agents, 20 listed', '/agents'],
  ] as const) {
    const [ofService, ofBare] = [
      (child: Child): Side => ({ child, request: { url: child.url + API_PREFIX + path, headers: world.headers } }),
      (child: Child): Side => ({ child, request: { url: child.url + path } }),
    ];
    const main = await compare(ofService(service), ofBare(bare));
    const target = { limit: 0.85, is: 'at least' } as const;
    figures.push({ measure: 'reads', name: `${name}: service / bare`, value: main.ratio, unit: '', target, note: main.note });
    if (quiet) {
      const other = await compare(ofService(quiet), ofBare(bare));
      figures.push({ measure: 'reads', name: `${name}: without request log / bare`, value: other.ratio, unit: '', note: other.note });
    }
    if (unprepared) {
      const other = await compare(ofService(service), ofBare(unprepared));
      figures.push({ measure: 'reads', name: `${name}: service / bare, unprepared`, value: other.ratio, unit: '', note: other.note });
    }
  }
  await Promise.all([service, bare, quiet, unprepared].map((child) => child?.stop()));
  return figures;
}

/** One of two servers that are compared. */
interface Side {
  child: Child;
  request: { url: string; headers?: Record<string, string> };
}

/** How one round went: requests a second, and processor time of the server's process a request. */
interface Round {
  perSecond: number;
  cpuMs: number;
}

async function run({ child, request }: Side): Promise<Round> {
  const before = processorMs(child.pid);
  const { requests, perSecond } = await load(request, { connections: CONNECTIONS, seconds: SECONDS });
  return { perSecond, cpuMs: (processorMs(child.pid) - before) / requests };
}

async function compare(a: Side, b: Side): Promise<{ ratio: number; note: string }> {
  for (const { request } of [a, b]) await load(request, { connections: CONNECTIONS, seconds: WARM_UP_SECONDS });
  const rounds: { a: Round; b: Round }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push({ a: await run(a), b: await run(b) });
  const ratios = rounds.map((round) => round.a.perSecond / round.b.perSecond);
  const middle = (side: 'a' | 'b', of: keyof Round) => median(rounds.map((round) => round[side][of]));
  return {
    ratio: median(ratios),
    note:
      `${middle('a', 'perSecond').toFixed(0)}/s against ${middle('b', 'perSecond').toFixed(0)}/s; rounds ${spread(ratios)}; ` +
      `processor ${middle('a', 'cpuMs').toFixed(3)} ms a request against ${middle('b', 'cpuMs').toFixed(3)} ms`,
  };
}
