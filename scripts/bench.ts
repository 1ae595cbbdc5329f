import { availableParallelism, cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAutomations } from './bench/automations.ts';
import { measureBackgroundTurns } from './bench/backgroundTurns.ts';
import { measureCapabilities } from './bench/capabilities.ts';
import { killChildren } from './bench/children.ts';
import { measureCommandLine } from './bench/commandLine.ts';
import { measureKnowledgeProcessing } from './bench/knowledgeProcessing.ts';
import { measureKnowledgeSearch } from './bench/knowledgeSearch.ts';
import { measureMcp } from './bench/mcp.ts';
import { measureMemory } from './bench/memory.ts';
import { measureMessages } from './bench/messages.ts';
import { measureNeighbours } from './bench/neighbours.ts';
import { measurePayingMessages } from './bench/payingMessages.ts';
import { summarise } from './bench/profile.ts';
import { measurePrompt } from './bench/prompt.ts';
import { measureReads } from './bench/reads.ts';
import { type Figure, figureTable, passes, pretty } from './bench/report.ts';
import { measureReading } from './bench/retrieval/reading.ts';
import { measureRetrieval } from './bench/retrieval.ts';
import { measureRoundTrips } from './bench/roundTrips.ts';
import { measureRuntime } from './bench/runtime.ts';
import { measureStartUp } from './bench/startUp.ts';
import { measureStreaming } from './bench/streaming.ts';
import { measureStreams } from './bench/streams.ts';
import { type BenchServiceOptions, openWorld, type World } from './bench/world.ts';

/*
 * Compares the service with simpler servers on this machine, in one run. docs/performance.md explains the figures. They are reported, not
 * asserted: a missed target does not change the exit code.
 */
const USAGE = `Usage: npm run bench -- [--only NAME]… [--json] [--variants] [--load-seconds N]

  --only NAME       one of: reads, messages, runtime, streaming, streams, paying-messages, background-turns, automations, start-up, memory, neighbours, round-trips, knowledge-processing, knowledge-search, retrieval, reading, prompt, capabilities, mcp, cli; may be repeated
  --json            figures as JSON instead of a table
  --variants        also compares the service without its request log
  --load-seconds N  length of the load before memory is measured; default 60
  --vectors         knowledge-search also by meaning, with vectors of 256 and 1536 numbers (some minutes more)
  --profile DIR     writes CPU profiles of the service under reads and messages, with a summary;
                    profiling costs time itself, so do not use the figures of such a run`;

/** Lengths of the vectors of small and of common embedding models. */
const VECTOR_LENGTHS = [256, 1536];

/** The exit code of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    variants: { type: 'boolean', default: false },
    vectors: { type: 'boolean', default: false },
    'load-seconds': { type: 'string', default: '60' },
    profile: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const profiled = (name: string): { service?: BenchServiceOptions } =>
  options.profile === undefined
    ? {}
    : { service: { nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${resolve(options.profile, name)}`] } };

const measures: Record<string, (world: World) => Promise<Figure[]>> = {
  reads: (world) => measureReads(world, { variants: options.variants, ...profiled('reads') }),
  messages: (world) => measureMessages(world, profiled('messages')),
  'paying-messages': measurePayingMessages,
  runtime: (world) => measureRuntime(world, profiled('runtime')),
  streaming: measureStreaming,
  streams: measureStreams,
  'background-turns': measureBackgroundTurns,
  automations: measureAutomations,
  neighbours: (world) => measureNeighbours(world, profiled('neighbours')),
  'start-up': measureStartUp,
  memory: (world) => measureMemory(world, Number(options['load-seconds'])),
  'knowledge-processing': measureKnowledgeProcessing,
  'knowledge-search': (world) => measureKnowledgeSearch(world, options.vectors ? { vectors: VECTOR_LENGTHS } : {}),
  prompt: measurePrompt,
  retrieval: measureRetrieval,
  reading: measureReading,
  capabilities: measureCapabilities,
  mcp: measureMcp,
  cli: measureCommandLine,
  'round-trips': async (world) => [
    ...Object.entries(world.roundTrips).map(([name, value]) => ({
      measure: 'round-trips',
      name,
      value,
      unit: '',
      note: 'counted on the wire, connection and key warm',
    })),
    ...(await measureRoundTrips(world)),
  ],
};

async function main(): Promise<void> {
  const chosen = options.only.length > 0 ? options.only : Object.keys(measures);
  const startedAt = performance.now();
  const busy = loadavg()[0] ?? 0;
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  if (busy > availableParallelism() / 2)
    say(`Other programs are busy (load average ${busy.toFixed(1)}): figures will look worse than on an idle machine.`);
  const world = await openWorld();
  const figures: Figure[] = [];
  try {
    for (const name of chosen) {
      if (interrupted) break;
      const began = performance.now();
      const found = (await measures[name]?.(world)) ?? [];
      figures.push(...found);
      say(
        `${name}, ${((performance.now() - began) / 1000).toFixed(0)} s: ${found.map(({ value }) => pretty(value)).join(', ')}`,
      );
    }
  } finally {
    killChildren();
    await world.close();
  }
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), Node ${process.version}, ${process.platform}-${process.arch}`;
  if (options.json) {
    const all = figures.map((figure) => ({ ...figure, pass: passes(figure) ?? null }));
    console.log(JSON.stringify({ date: new Date().toISOString(), machine, loadBefore: busy, figures: all }, null, 2));
    return;
  }
  console.log(figureTable(figures));
  for (const name of options.profile === undefined
    ? []
    : ['reads', 'messages', 'runtime', 'neighbours'].filter((one) => chosen.includes(one))) {
    console.log(`\n${name}\n${summarise(resolve(options.profile ?? '', name))}`);
  }
  console.log(
    `\n${machine}; load average ${busy.toFixed(1)} before the run; ${((performance.now() - startedAt) / 1000).toFixed(0)} s in all.`,
  );
}

// Without its child processes the running measure fails, and the clean-up is the same as after any failure.
let interrupted = false;
process.on('SIGINT', () => {
  interrupted = true;
  killChildren();
});

const unknown = options.only.filter((name) => !Object.hasOwn(measures, name));
if (options.help || unknown.length > 0 || !(Number(options['load-seconds']) >= 1)) {
  console.log(USAGE);
  process.exitCode = options.help ? 0 : 2;
} else {
  await main().catch((error: unknown) => {
    if (!interrupted) throw error;
  });
  if (interrupted) process.exit(INTERRUPTED);
}
