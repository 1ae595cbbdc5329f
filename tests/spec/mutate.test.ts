import { join } from 'node:path';
import { applyMutant, mutantsOf, sample } from '../../scripts/mutate/mutants.ts';
import { relatedTests } from '../../scripts/mutate/relatedTests.ts';

const root = join(import.meta.dirname, '../..');

/** The kinds and the lines of the mutants of a text, each with the line as it is then. */
function mutated(text: string): [kind: string, line: string | undefined][] {
  return mutantsOf('x.ts', text).map((mutant) => [mutant.kind, applyMutant(text, mutant).split('\n')[mutant.line - 1]]);
}

test.each([
  ['const MAX_LINKS = 50;', ['limit', 'const MAX_LINKS = 51;']],
  ["if (!row) throw fault('GONE');", ['guard', "if (false) throw fault('GONE');"]],
  ["if (!row) throw fault('GONE');", ['code', "if (!row) throw fault('INTERNAL_ERROR');"]],
  ['if (a) return b;', ['condition', 'if (!(a)) return b;']],
  ['f(a ? b : c);', ['condition', 'f(!(a) ? b : c);']],
  ['f(a >= b);', ['comparison', 'f(a > b);']],
  ['f(a && b);', ['logic', 'f(a || b);']],
  ["db.from('a').where('workspace_id', '=', w).all();", ['filter', "db.from('a').all();"]],
  ['await remove(a);', ['step', ';']],
])('%s has the mutant %j', (text, mutant) => {
  expect(mutated(text)).toContainEqual(mutant);
});

test('types and names in lower case are left alone', () => {
  expect(mutated('type A = B extends C ? 1 : 2;\nconst first = 0;\nexport interface D { e: 1 }')).toEqual([]);
});

test('a sample has the size that is asked for, no mutant twice, and depends on the seed alone', () => {
  const items = Array.from({ length: 100 }, (_, i) => i);
  const chosen = sample(items, 20, 7);
  expect(new Set(chosen).size).toBe(20);
  expect(sample(items, 20, 7)).toEqual(chosen);
  expect(sample(items, 20, 8)).not.toEqual(chosen);
  expect(sample(items, 200, 7)).toHaveLength(100);
});

test('the tests of a handler are those of its operation, those of a rule are those of the operations that use it', () => {
  expect(relatedTests(root, 'handlers/agents/publishAgent.ts', 9)).toEqual(['tests/http/agents/publishAgent.test.ts']);
  const tests = relatedTests(root, 'domain/agents/addAgent.ts', 9);
  expect(tests).toContain('tests/http/agents/createAgent.test.ts');
  expect(tests).not.toContain('tests/http/skills/deleteSkill.test.ts');
});
