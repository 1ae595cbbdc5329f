import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { PLACEHOLDER } from '../spec/rules/noPlaceholder.ts';
import type { Content, Document, Operation, PathItem, RequestBody, Response } from '../spec/rules/types.ts';
import { bundle } from './bundle.ts';
import { operationRows } from './codegen/operations.ts';
import { exampleOf, scaffold } from './newOperation/scaffold.ts';

const root = join(import.meta.dirname, '..');
const SUMMARY = `${PLACEHOLDER}: say what it shows`;

/**
 * `npm run new:operation -- <operationId>`, for an operation that is described in spec/paths/: writes the examples that it refers
 * to, its handler and its test, as far as they are missing; takes the operation off the burn-down list; runs codegen. Never
 * overwrites a file. The texts that it leaves to the author begin with `TODO`, and the linters refuse them.
 */
async function main(): Promise<void> {
  const [operationId = ''] = process.argv.slice(2);
  const file = globSync('spec/paths/*/*.yaml', { cwd: root }).find((name) =>
    read(name).includes(`operationId: ${operationId}\n`),
  );
  if (!operationId || !file)
    throw new Error('usage: npm run new:operation -- <operationId>, of an operation in spec/paths/');
  const missing = missingExamples(file, operationId);
  // The document bundles only when all files that it refers to exist.
  for (const name of missing) write(name, stringify({ summary: SUMMARY, value: {} }), true);
  const document = await bundle(join(root, 'spec'));
  const row = operationRows(document).find((each) => each.operationId === operationId);
  if (!row) throw new Error(`spec/openapi.yaml does not list ${file}`);
  const operation = document.paths?.[row.path]?.[row.method.toLowerCase()] as Operation;
  for (const name of missing)
    write(name, stringify({ summary: SUMMARY, value: exampleValue(document, operation, name) }));
  for (const [name, text] of Object.entries(scaffold(row, document)))
    if (!existsSync(join(root, name))) write(name, text);
  const list = 'tests/spec/burn-down.json';
  const burnDown = JSON.parse(read(list));
  burnDown.notImplemented = burnDown.notImplemented.filter((id: string) => id !== operationId);
  write(list, `${JSON.stringify(burnDown, null, 2)}\n`);
  execFileSync(process.execPath, [join(root, 'scripts/codegen.ts'), '--no-db'], { cwd: root, stdio: 'inherit' });
  console.log(`next: replace each ${PLACEHOLDER} in these files; CONTRIBUTING.md says how, from step 3 on`);
}

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

function write(name: string, text: string, quiet = false): void {
  const file = join(root, name);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  if (!quiet) console.log(`wrote ${name}`);
}

/** The example files that the operation refers to and that do not exist. */
function missingExamples(file: string, operationId: string): string[] {
  const item: PathItem = parse(read(file));
  const operation = Object.values(item).find((node) => (node as Operation).operationId === operationId);
  return [...JSON.stringify(operation).matchAll(/"\$ref":"([^"]*\/examples\/[^"]*)"/g)]
    .map(([, reference = '']) => resolve(root, dirname(file), reference))
    .filter((name) => !existsSync(name))
    .map((name) => relative(root, name));
}

/** A first value for an example, made from the schema of the body or response that it belongs to. */
function exampleValue(document: Document, operation: Operation, file: string): unknown {
  const name = basename(file, '.yaml');
  const parts: (RequestBody | Response | undefined)[] = [
    operation.requestBody,
    ...Object.values(operation.responses ?? {}),
  ];
  const contents = parts.flatMap((part): Content[] => (part?.content ? [part.content] : []));
  const media = contents
    .flatMap((content) => Object.values(content))
    .find(({ examples }) => examples && name in examples);
  return media?.schema ? exampleOf(document, media.schema) : {};
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
