import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const RULE = 'scripts/lint/noSpreadOfLiteral.grit';
const folder = mkdtempSync(join(tmpdir(), 'guildhall-lint-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** The code, as a module that the other rules of the linter accept. */
function moduleOf(code: string): string {
  return `export const f = (a: string[], o: object, g: (...xs: string[]) => string) => [a, o, g, ${code}];\n`;
}

const BAD = [
  "[...['a', 'b'], 'c']",
  '{ ...{ b: 1 }, c: 2 }',
  "['c', ...(['a', 'b'] as const)]",
  "[...(['a'] satisfies string[])]",
  '{ ...({ b: 1 }) }',
  "g(...['a', 'b'])",
  '{ c: { ...{ ...o, b: 1 } } }',
];

const GOOD = [
  '[...a]',
  '{ ...o, b: 1 }',
  "[...(a.length > 0 ? ['a'] : [])]",
  '{ ...(a.length > 0 ? { a } : {}) }',
  "[...['a', 'b'].map((x) => x + x)]",
  '[...[...a].slice(1)]',
];

test('a spread of a literal fails the linter, a spread of anything else does not', async () => {
  cpSync(join(root, 'biome.json'), join(folder, 'biome.json'));
  cpSync(join(root, RULE), join(folder, RULE));
  for (const [i, code] of BAD.entries()) writeFileSync(join(folder, `bad${i}.ts`), moduleOf(code));
  for (const [i, code] of GOOD.entries()) writeFileSync(join(folder, `good${i}.ts`), moduleOf(code));
  const output = await new Promise<string>((resolve) => {
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    execFile(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: folder }, (_, stdout) =>
      resolve(stdout),
    );
  });
  const { diagnostics } = JSON.parse(output) as { diagnostics: { category: string; location: { path: string } }[] };
  const failed = diagnostics.filter(({ category }) => category === 'plugin').map(({ location }) => location.path);
  expect([...new Set(failed)].sort()).toEqual(BAD.map((_, i) => `bad${i}.ts`));
});
