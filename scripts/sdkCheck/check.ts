import { mkdir, rm } from 'node:fs/promises';
import { firstError, isInstalled, run } from './commandLine.ts';
import type { Generator, Place } from './generator.ts';
import type { Guildhall } from './service.ts';
import { prepareScene, STEPS, type Step } from './steps.ts';

/** What became of one generator. */
export interface Result {
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped, or the first error. */
  reason?: string;
  /** Seconds of each stage that was reached. */
  seconds: Partial<Record<'install' | 'generate' | 'compile' | 'use', number>>;
  /** What the compiler warned of: shown, because it is about generated code that nobody edits. */
  warnings?: string[];
  /** `ok`, or what went wrong. Absent when the program did not run. */
  steps?: Record<Step, string>;
}

/** Generates a client, compiles it and uses it against the service. Skipped when the machine lacks a tool. */
export async function checkGenerator(generator: Generator, place: Place, guildhall: Guildhall): Promise<Result> {
  const { name } = generator;
  const missing = generator.tools.filter((tool) => !isInstalled(tool));
  const seconds: Result['seconds'] = {};
  if (missing.length > 0) return { name, outcome: 'skipped', reason: `no ${missing.join(', ')} here`, seconds };
  const timed = async <Value>(stage: keyof Result['seconds'], work: () => Promise<Value>): Promise<Value> => {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      seconds[stage] = Math.round((performance.now() - startedAt) / 100) / 10;
    }
  };
  const failed = (stage: string, output: string): Result => ({
    name,
    outcome: 'failed',
    reason: `${stage}: ${firstError(output)}`,
    seconds,
  });
  await rm(place.folder, { recursive: true, force: true });
  await mkdir(place.folder, { recursive: true });
  const { install } = generator;
  if (install) {
    const problem = await timed('install', () => install(place).catch((error: Error) => error));
    if (problem) return { name, outcome: 'skipped', reason: problem.message, seconds };
  }
  const generated = await timed('generate', () => run(generator.generate(place)));
  if (!generated.ok) return failed('generate', generated.output);
  const warning = newWarning(generated.warnings, generator.warnings);
  if (warning !== undefined) return failed('generate', `error: a warning that nobody has judged: ${warning}`);
  const compiled = await timed('compile', async () => run(await generator.compile(place)));
  if (!compiled.ok) return failed('compile', compiled.output);
  const { warnings } = compiled;
  const scene = await prepareScene(guildhall, name);
  const command = generator.use(place);
  const used = await timed('use', () => run({ ...command, env: { ...command.env, ...scene.env } }));
  const steps = await judgeSteps(used.output, scene.verify, generator.cannot);
  const wrong = Object.entries(steps).find(
    ([step, verdict]) => verdict !== 'ok' && verdict !== generator.cannot?.[step as Step],
  );
  if (wrong) return { ...failed(wrong[0], used.ok ? wrong[1] : used.output), steps };
  return used.ok ? { name, outcome: 'passed', seconds, warnings, steps } : { ...failed('use', used.output), steps };
}

/** The first warning that is none of those that were judged. */
export function newWarning(warnings: readonly string[], judged: Generator['warnings'] = []): string | undefined {
  return warnings.find(
    (line) => !judged.some(({ text }) => (typeof text === 'string' ? line.includes(text) : text.test(line))),
  );
}

/** Holds what a program printed against the state of the service, step by step. A step that it does not name is wrong. */
export async function judgeSteps(
  output: string,
  verify: Record<Step, (values: string[]) => Promise<void>>,
  cannot: Generator['cannot'] = {},
): Promise<Record<Step, string>> {
  const printed = new Map(
    output.split('\n').map((line) => {
      const [word = '', ...values] = line.split('\t');
      return [word, values];
    }),
  );
  const verdict = async (step: Step): Promise<string> => {
    const values = printed.get(step);
    if (!values) return cannot[step] ?? printed.get(`!${step}`)?.join(' ') ?? 'The program says nothing of it.';
    return verify[step](values).then(
      () => 'ok',
      (error: Error) => error.message,
    );
  };
  const verdicts = {} as Record<Step, string>;
  for (const step of STEPS) verdicts[step] = await verdict(step);
  return verdicts;
}

/** The last line, and whether the check fails. What was skipped fails it only where everything is `required`. */
export function judgeResults(results: readonly Result[], required: boolean): { line: string; failed: boolean } {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  return {
    line: `sdk:check: ${passed} clients work, ${failed} do not, ${skipped} skipped`,
    failed: failed > 0 || passed + failed + skipped === 0 || (required && skipped > 0),
  };
}
