import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type OperationRow, operationRows } from '../../scripts/codegen/operations.ts';
import { scaffold } from '../../scripts/newOperation/scaffold.ts';
import type { Document } from '../../spec/rules/types.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

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

/** The files of the folder in which a rule of scripts/lint/ finds a fault. */
async function refused(): Promise<string[]> {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: folder }, (_, stdout) =>
      resolve(stdout),
    );
  });
  const { diagnostics } = JSON.parse(output) as { diagnostics: { category: string; location: { path: string } }[] };
  const paths = diagnostics.filter(({ category }) => category === 'plugin').map(({ location }) => location.path);
  return [...new Set(paths)].sort();
}

function put(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-lint-'));
  cpSync(join(root, 'biome.json'), join(folder, 'biome.json'));
  cpSync(join(root, 'scripts/lint'), join(folder, 'scripts/lint'), { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a spread of a literal is refused, a spread of anything else is not', async () => {
  for (const [i, code] of BAD.entries()) put(`bad${i}.ts`, moduleOf(code));
  for (const [i, code] of GOOD.entries()) put(`good${i}.ts`, moduleOf(code));
  expect(await refused()).toEqual(BAD.map((_, i) => `bad${i}.ts`));
});

test('placeholders of a new handler and a new test are refused, also one by one', async () => {
  const document: Document = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
  const row = operationRows(document).find(({ operationId }) => operationId === 'createCommand');
  const files = Object.entries(scaffold(row as OperationRow, document));
  const [, test = ''] = files.find(([name]) => name.startsWith('tests/')) ?? [];
  for (const [name, text] of files) put(name, text);
  put('tests/http/title.test.ts', test.replaceAll("new Error('TODO", "new Error('"));
  put('tests/http/error.test.ts', test.replaceAll("test('TODO", "test('"));
  put('tests/http/done.test.ts', test.replaceAll('TODO: ', ''));
  put('core/elsewhere.ts', "export const word = 'TODO';\n");
  expect(await refused()).toEqual([
    'handlers/agent-commands/createCommand.ts',
    'tests/http/agent-commands/createCommand.test.ts',
    'tests/http/error.test.ts',
    'tests/http/title.test.ts',
  ]);
});
