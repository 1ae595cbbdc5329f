import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeCopy, removeCopy, runTests, type TestOutcome } from './mutate/copy.ts';
import { applyMutant, type Mutant, mutantsOf, sample } from './mutate/mutants.ts';
import { relatedTests } from './mutate/relatedTests.ts';

const root = join(import.meta.dirname, '..');
/** Tests that a mutant is tried with after it survived the nearest ones. */
const MAX_FURTHER_TESTS = 40;
const MAX_FURTHER_MS = 600_000;
const USAGE =
  'usage: npm run mutate -- FILE… [--sample N] [--seed S] [--seconds T] [--most-tests N] [--tests FILE]…; see scripts/mutate.ts';

/**
 * `npm run mutate -- FILE…`: breaks the files in small ways, one at a time, runs their tests for each, and lists what no test
 * notices. It works in a copy of the last commit with the changes of tracked files, so that the tree stays as it is.
 *
 * `--sample` is how many mutants are tried (20), `--seed` chooses them (1), `--seconds` is when no further one is begun (600).
 * The tests are those that import the file or are named after an operation that uses it: first the nearest `--most-tests` (6) of
 * them, then up to 40 for a mutant that survives these. `--tests` names them instead. Another test may still kill a survivor.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '600' },
      'most-tests': { type: 'string', default: '6' },
      tests: { type: 'string', multiple: true },
    },
  });
  const files = positionals.map((name) => relative(root, resolve(name)));
  if (files.length === 0) throw new Error(USAGE);
  const deadline = Date.now() + Number(values.seconds) * 1_000;
  const copy = makeCopy();
  try {
    const all = files.flatMap((file) =>
      mutantsOf(file, readFileSync(join(copy, file), 'utf8')).map((mutant) => ({ file, mutant })),
    );
    const chosen = sample(all, Number(values.sample), Number(values.seed));
    console.log(`${all.length} mutants, ${chosen.length} chosen with seed ${values.seed}`);
    const counts: Record<TestOutcome, number> = { passed: 0, failed: 0, 'timed out': 0 };
    for (const [file, group] of Map.groupBy(chosen, (each) => each.file)) {
      const related = values.tests ?? relatedTests(copy, file, MAX_FURTHER_TESTS);
      const tests = related.slice(0, values.tests ? undefined : Number(values['most-tests']));
      const further = related.slice(tests.length);
      if (tests.length === 0) throw new Error(`${file}: no test imports it, and none is named after it; use --tests`);
      console.log(`${file}: ${tests.join(' ')}`);
      const started = Date.now();
      if ((await runTests(copy, tests, 600_000)) !== 'passed') throw new Error('the tests fail without a mutant');
      const limitMs = 3 * (Date.now() - started) + 10_000;
      for (const { mutant } of group) {
        if (Date.now() > deadline) break;
        let outcome = await tryMutant(copy, file, mutant, tests, limitMs);
        if (outcome === 'passed' && further.length > 0)
          outcome = await tryMutant(copy, file, mutant, further, MAX_FURTHER_MS);
        counts[outcome] += 1;
        if (outcome === 'passed') console.log(`survived  ${file}:${mutant.line} ${shown(mutant)}`);
      }
    }
    const tried = counts.passed + counts.failed + counts['timed out'];
    if (tried < chosen.length) console.log(`${chosen.length - tried} not tried: ${values.seconds} seconds are over`);
    console.log(`${tried} tried: ${counts.failed} killed, ${counts['timed out']} timed out, ${counts.passed} survived`);
  } finally {
    removeCopy(copy);
  }
}

async function tryMutant(
  copy: string,
  file: string,
  mutant: Mutant,
  tests: string[],
  ms: number,
): Promise<TestOutcome> {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, applyMutant(text, mutant));
  try {
    return await runTests(copy, tests, ms);
  } finally {
    writeFileSync(path, text);
  }
}

function shown({ kind, before, after }: Mutant): string {
  const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 90);
  if (kind === 'filter') return `filter: without ${short(before.slice(after.length))}`;
  if (kind === 'step') return `step: without ${short(before)}`;
  return `${kind}: ${short(before)} → ${short(after)}`;
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
