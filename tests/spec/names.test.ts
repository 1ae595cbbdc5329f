import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');
const FOLDERS = 'core,db,integrations,runtime,domain,jobs,handlers,server,scripts,spec';

/** The names that a module declares and exports. A name that it passes on from another module is not declared there. */
function exportedNames(file: string, text: string): string[] {
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const names = statements.flatMap((statement): ts.Node[] => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name);
    return [(statement as ts.DeclarationStatement).name].filter((name) => name !== undefined);
  });
  return names.filter(ts.isIdentifier).map(({ text: name }) => name);
}

/** The names that more than one file declares and exports, each with its files. */
function sharedNames(files: ReadonlyMap<string, string>): string[] {
  const places = new Map<string, Set<string>>();
  for (const [file, text] of files)
    for (const name of exportedNames(file, text)) places.set(name, (places.get(name) ?? new Set()).add(file));
  return [...places].filter(([, found]) => found.size > 1).map(([name, found]) => `${name}: ${[...found].join(', ')}`);
}

test('a name that two files export is found, whatever it names', () => {
  const files = new Map([
    ['db/a.ts', 'export function one() {}\nexport const two = 1, three = 2;\nfunction four() {}'],
    ['server/b.ts', 'export interface three {}\nexport type Five = 5;\nexport class four {}'],
    [
      'core/c.ts',
      "export async function one() {}\nexport { two } from '../db/a.ts';\nconst text = `\nexport type Five = 5;`;",
    ],
  ]);
  expect(sharedNames(files)).toEqual(['one: db/a.ts, core/c.ts', 'three: db/a.ts, server/b.ts']);
});

test('no two source files export one name', () => {
  const files = globSync(`{${FOLDERS}}/**/*.ts`, { cwd: root }).sort();
  expect(files.length).toBeGreaterThan(400);
  expect(sharedNames(new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')])))).toEqual([]);
});

test('no parameter has the name of a schema: generators that make a type of each refuse the document', () => {
  const { components } = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
  const names = Object.keys(components.parameters);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => name in components.schemas)).toEqual([]);
});

type Enumeration = { enum?: unknown; 'x-enum-varnames'?: unknown };

/** The places whose enum has two values that generators give one name: they ignore case and punctuation. */
function sharedEnumNames(node: unknown, place = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.entries(node).flatMap(([key, child]) => sharedEnumNames(child, `${place}/${key}`));
  const { enum: values, 'x-enum-varnames': given } = node as Enumeration;
  if (!Array.isArray(values)) return below;
  const names = (Array.isArray(given) ? given : values).map((each) =>
    String(each)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, ''),
  );
  return new Set(names).size === values.length ? below : [...below, place];
}

test('two values of an enum that differ in case only are found, unless they are given names', () => {
  const schema = { enum: ['text_input', 'TEXT_INPUT'] };
  expect(sharedEnumNames({ a: schema })).toEqual(['/a']);
  expect(sharedEnumNames({ a: { ...schema, 'x-enum-varnames': ['ONE', 'TWO'] } })).toEqual([]);
  expect(sharedEnumNames({ a: { ...schema, 'x-enum-varnames': ['ONE'] } })).toEqual(['/a']);
});

test('the values of every enum have names of their own in generated code', () => {
  expect(sharedEnumNames(JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8')))).toEqual([]);
});
