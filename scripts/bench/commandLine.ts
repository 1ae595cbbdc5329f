import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';

const ROUNDS = 15;
const ROOT = join(import.meta.dirname, '../..');
const BUNDLE = join(ROOT, 'clients/cli/dist/guildhall.js');
const MAX_HELP_MS = 150;

const CALLS: [name: string, argv: string[]][] = [
  ['--help', ['--help']],
  ['--version', ['--version']],
  ['agents --help', ['agents', '--help']],
  ['agents update --help, the command with most flags', ['agents', 'update', '--help']],
];

/** Measures the command line as it is installed: the time from the start of its process to its end. */
export async function measureCommandLine(): Promise<Figure[]> {
  const run = promisify(execFile);
  await run(process.execPath, [join(ROOT, 'clients/build.ts'), 'cli'], { cwd: ROOT });
  const times = new Map<string, number[]>();
  // In turns, so that a busy moment of the machine hits all alike.
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, argv] of [
      ...CALLS.map(([each, args]) => [each, [BUNDLE, ...args]] as const),
      ['node', ['-e', '0']] as const,
    ]) {
      const began = performance.now();
      await run(process.execPath, [...argv]);
      times.set(name, [...(times.get(name) ?? []), performance.now() - began]);
    }
  const node = median(times.get('node') ?? []);
  return CALLS.map(([name]) => {
    const found = times.get(name) ?? [];
    return {
      measure: 'cli',
      name: `guildhall ${name}`,
      value: median(found),
      unit: 'ms',
      target: { limit: MAX_HELP_MS, is: 'at most' as const },
      note: `median of ${found.length}; ${spread(found)}; Node alone ${node.toFixed(0)} ms`,
    };
  });
}
