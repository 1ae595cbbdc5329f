import { API_PREFIX } from '../../generated/operations.ts';
import { type Child, processorMs } from './children.ts';
import { load } from './load.ts';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';
import type { BenchServiceOptions, World } from './world.ts';

const CONNECTIONS = 32;
const ROUNDS = 5;
const SECONDS = 1;
const TARGET = 0.85;
/** Of one agent, compared with the bare server that names its statements. */
const PREPARED_TARGET = 0.8;

/** One of the servers that are compared. */
interface Side {
  name: string;
  child: Child;
  /** Whether it is the service, with its path prefix and keys. */
  keyed: boolean;
}

/** The result of one round: requests a second, and processor time of the server's process for each request. */
interface Round {
  perSecond: number;
  cpuMs: number;
}

/**
 * Measures reads a second and compares them with bare servers, in alternating rounds. `variants` adds the service without its request
 * log, to show the cost of the log.
 */
export async function measureReads(
  world: World,
  options: { variants: boolean; service?: BenchServiceOptions },
): Promise<Figure[]> {
  const service = await world.startService(options.service);
  const subjects: Side[] = [{ name: 'service', child: service, keyed: true }];
  if (options.variants) {
    const quiet = await world.startService({ env: { GUILDHALL_LOG_LEVEL: 'warn' } });
    subjects.push({ name: 'service without request log', child: quiet, keyed: true });
  }
  const yardsticks: Side[] = [
    { name: 'bare', child: await world.startBare(service, false), keyed: false },
    { name: 'bare, prepared', child: await world.startBare(service, true), keyed: false },
  ];
  const figures: Figure[] = [];
  for (const [title, path] of [
    ['GET /agents/{id}', `/agents/${world.agentId}`],
    ['GET /agents, 20 listed', '/agents'],
  ] as const) {
    const request = ({ child, keyed }: Side) =>
      keyed ? { url: child.url + API_PREFIX + path, headers: world.headers } : { url: child.url + path };
    const rounds = await alternate([...subjects, ...yardsticks], request);
    for (const subject of subjects) {
      for (const yardstick of yardsticks) {
        const figure = compare(title, rounds, subject, yardstick);
        const limit = yardstick === yardsticks[0] ? TARGET : path === '/agents' ? undefined : PREPARED_TARGET;
        const counts = subject === subjects[0] && limit !== undefined;
        figures.push(counts ? { ...figure, target: { limit, is: 'at least' } } : figure);
      }
    }
  }
  await Promise.all([...subjects, ...yardsticks].map(({ child }) => child.stop()));
  return figures;
}

/** Loads the servers in turn, round after round. The first round warms them up and does not count. */
async function alternate(
  sides: readonly Side[],
  requestOf: (side: Side) => { url: string; headers?: Record<string, string> },
): Promise<Map<Side, Round[]>> {
  const rounds = new Map<Side, Round[]>(sides.map((side) => [side, []]));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const side of sides) {
      const before = processorMs(side.child.pid);
      const { requests, perSecond } = await load(requestOf(side), { connections: CONNECTIONS, seconds: SECONDS });
      const cpuMs = (processorMs(side.child.pid) - before) / requests;
      if (round >= 0) rounds.get(side)?.push({ perSecond, cpuMs });
    }
  }
  return rounds;
}

function compare(title: string, rounds: Map<Side, Round[]>, subject: Side, yardstick: Side): Figure {
  const [ours, theirs] = [rounds.get(subject) ?? [], rounds.get(yardstick) ?? []];
  const ratios = ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN));
  const rates = [ours, theirs].map((side) => median(side.map(({ perSecond }) => perSecond)).toFixed(0));
  const times = [ours, theirs].map((side) => median(side.map(({ cpuMs }) => cpuMs)).toFixed(3));
  return {
    measure: 'reads',
    name: `${title}: ${subject.name} / ${yardstick.name}`,
    value: median(ratios),
    unit: '',
    note: `${rates.join('/s against ')}/s; rounds ${spread(ratios)}; processor ${times.join(' ms against ')} ms a request`,
  };
}
