import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Document } from '../spec/rules/types.ts';
import { makeCopy, removeCopy } from './mutate/copy.ts';
import { sample } from './mutate/mutants.ts';
import { DocumentChecks } from './mutateSpec/checks.ts';
import type { DocumentMutant } from './mutateSpec/documentMutant.ts';
import { documentMutants } from './mutateSpec/documentMutants.ts';
import { compareDocuments } from './specDiff/compare.ts';

const root = join(import.meta.dirname, '..');

/** How many mutants of a kind a check was tried with, and how many it noticed. */
type Score = { tried: number; noticed: number };
type Row = Record<'breaking' | 'generated code' | 'addition' | 'unseen', number> & Record<CheckName, Score>;
type CheckName = 'tables' | 'lint' | 'types' | 'tests';

/**
 * `npm run mutate:spec`: changes generated/openapi.json in small ways, one at a time, and counts what notices each: the comparison
 * with the document as it is (`npm run spec:diff`), the table of operations, the rules of `npm run spec:lint`, the types of the service, and the
 * tests that are computed from the document. The tree stays as it is. A mutant that the comparison does not see is listed, and so is
 * one that nothing else notices.
 *
 * `--sample` is how many mutants are tried (1000), spread evenly over the kinds; `--seed` chooses them (1). The last three checks are
 * dear, so that each is tried with as many of them as `--lint`, `--types` and `--tests` say (10, 10, 5); `--seconds` is when none is
 * begun any more (2400). `--tsc` is the compiler. It exits with 1 when the comparison does not see a mutant.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      sample: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      lint: { type: 'string', default: '10' },
      types: { type: 'string', default: '10' },
      tests: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2400' },
      tsc: { type: 'string', default: join(root, 'node_modules/typescript/bin/tsc') },
    },
  });
  const deadline = Date.now() + Number(values.seconds) * 1_000;
  const text = readFileSync(join(root, 'generated/openapi.json'), 'utf8');
  const document: Document = JSON.parse(text);
  const mutants = chosen(documentMutants(document), Number(values.sample), Number(values.seed));
  const copy = makeCopy();
  try {
    const checks = new DocumentChecks(document, copy, resolve(values.tsc));
    const rows = new Map<string, Row>();
    const rowOf = (kind: string) => rows.get(kind) ?? rows.set(kind, newRow()).get(kind) ?? newRow();
    const mutatedBy = (mutant: DocumentMutant) => {
      const mutated: Document = JSON.parse(text);
      mutant.apply(mutated);
      return mutated;
    };
    for (const mutant of mutants) {
      const mutated = mutatedBy(mutant);
      const row = rowOf(mutant.kind);
      const kind = compareDocuments(document, mutated)[0]?.kind ?? 'unseen';
      row[kind] += 1;
      if (kind === 'unseen') console.log(`unseen by spec:diff  ${mutant.kind}: ${mutant.place}`);
      count(row.tables, checks.tables(mutated));
    }
    for (const [name, check] of [
      ['lint', (mutated) => checks.lint(mutated)],
      ['types', (mutated) => checks.types(mutated)],
      ['tests', (mutated, { place }) => checks.tests(mutated, place)],
    ] as [CheckName, (mutated: Document, mutant: DocumentMutant) => Promise<boolean>][]) {
      const few = chosen(mutants, Number(values[name as 'lint']), Number(values.seed));
      const untouched = { kind: 'none', place: '', apply: () => {} };
      if (few.length > 0 && (await check(document, untouched))) throw new Error(`${name}: fails without a mutant`);
      for (const mutant of few) {
        if (Date.now() > deadline) break;
        const isNoticed = await check(mutatedBy(mutant), mutant);
        count(rowOf(mutant.kind)[name], isNoticed);
        console.log(`${name} ${isNoticed ? 'notices' : 'does not notice'}  ${mutant.kind}: ${mutant.place}`);
      }
    }
    report(rows, mutants.length, values.seed);
    return [...rows.values()].some(({ unseen }) => unseen > 0) ? 1 : 0;
  } finally {
    removeCopy(copy);
  }
}

/** So many mutants, as many of each kind as there are, chosen by the seed. */
function chosen(mutants: DocumentMutant[], size: number, seed: number): DocumentMutant[] {
  const kinds = [...Map.groupBy(mutants, ({ kind }) => kind).values()].map((group) =>
    sample(group, group.length, seed),
  );
  const turns = Math.max(0, ...kinds.map((group) => group.length));
  const inTurns = Array.from({ length: turns }, (_, turn) =>
    sample(
      kinds.flatMap((group) => group[turn] ?? []),
      kinds.length,
      seed + turn,
    ),
  );
  return inTurns.flat().slice(0, size);
}

function newRow(): Row {
  const score = (): Score => ({ tried: 0, noticed: 0 });
  return {
    breaking: 0,
    'generated code': 0,
    addition: 0,
    unseen: 0,
    tables: score(),
    lint: score(),
    types: score(),
    tests: score(),
  };
}

function count(score: Score, isNoticed: boolean): void {
  score.tried += 1;
  if (isNoticed) score.noticed += 1;
}

function report(rows: Map<string, Row>, total: number, seed: string): void {
  const names: CheckName[] = ['tables', 'lint', 'types', 'tests'];
  const line = (kind: string, row: Row) => {
    const seen = row.breaking + row['generated code'] + row.addition + row.unseen;
    const scores = names.map((name) => (row[name].tried > 0 ? `${row[name].noticed}/${row[name].tried}` : '–'));
    return `| ${[kind, seen, row.breaking, row['generated code'], row.addition, row.unseen, ...scores].join(' | ')} |`;
  };
  console.log(`\n${total} mutants, chosen with seed ${seed}\n`);
  console.log('| kind | mutants | breaking | generated code | addition | unseen | tables | lint | types | tests |');
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  const sum = newRow();
  for (const [kind, row] of [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(line(kind, row));
    for (const key of ['breaking', 'generated code', 'addition', 'unseen'] as const) sum[key] += row[key];
    for (const name of names) {
      sum[name].tried += row[name].tried;
      sum[name].noticed += row[name].noticed;
    }
  }
  console.log(line('all', sum));
}

process.exitCode = await main().catch((error) => {
  console.error(error.message);
  return 2;
});
