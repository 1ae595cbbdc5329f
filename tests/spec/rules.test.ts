import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { bundle, redocly } from '../../scripts/bundle.ts';
import type { Operation } from '../../spec/rules/types.ts';

/*
 * Each folder of rules/ is named after a rule and holds the files of a good and a bad document that differ from rules/base. An
 * empty file means that the document lacks it. A bad document with several faults marks each with a comment `# fault`.
 */
const fixtures = join(import.meta.dirname, 'rules');
const base = join(fixtures, 'base');
const rules = readdirSync(fixtures).filter((name) => name !== 'base');
const builtIn = ['component-name-unique', 'struct'];

let folder: string;
let reported: Map<string, string[]>;

/** Writes every document in full and lints all of them in one process. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-rules-'));
  const documents = ['base', ...rules.flatMap((rule) => [`${rule}/good`, `${rule}/bad`])];
  for (const document of documents) {
    const target = join(folder, document);
    cpSync(base, target, { recursive: true });
    cpSync(join(fixtures, document), target, { recursive: true });
    for (const file of globSync('**/*.yaml', { cwd: target }))
      if (statSync(join(target, file)).size === 0) rmSync(join(target, file));
  }
  const files = documents.map((document) => join(folder, document, 'openapi.yaml'));
  const { stdout } = await redocly(['lint', ...files, '--config', 'spec/redocly.yaml', '--format', 'json']).catch(
    (error) => error,
  );
  const reports: { problems: { ruleId: string }[] }[] = JSON.parse(`[${stdout.replaceAll(/^\}\{$/gm, '},{')}]`);
  expect(reports).toHaveLength(documents.length);
  reported = new Map(
    documents.map((document, index) => [document, (reports[index]?.problems ?? []).map(({ ruleId }) => ruleId)]),
  );
});

/** How many faults the files of a document are marked with. */
function faultsIn(document: string): number {
  const files = globSync('**/*.yaml', { cwd: join(fixtures, document) });
  return files.flatMap((file) => readFileSync(join(fixtures, document, file), 'utf8').match(/# fault$/gm) ?? []).length;
}

afterAll(() => rmSync(folder, { recursive: true }));

test('every rule of the plugin has a good and a bad document', () => {
  const { rules: configured } = parse(readFileSync('spec/redocly.yaml', 'utf8'));
  const own = Object.keys(configured).filter((name) => name.startsWith('guildhall/'));
  expect(rules.toSorted()).toEqual([...own.map((name) => name.replace('guildhall/', '')), ...builtIn].toSorted());
});

test('the base of all documents breaks no rule', () => {
  expect([...(reported.get('base') ?? [])]).toEqual([]);
});

describe.each(rules)('%s', (rule) => {
  test('accepts the good document', () => {
    expect([...(reported.get(`${rule}/good`) ?? ['not linted'])]).toEqual([]);
  });

  test('is the only rule that reports the bad document', () => {
    const problems = reported.get(`${rule}/bad`) ?? [];
    expect([...new Set(problems)]).toEqual([builtIn.includes(rule) ? rule : `guildhall/${rule}`]);
    const marked = faultsIn(`${rule}/bad`);
    if (marked > 0) expect(problems).toHaveLength(marked);
  });
});

test('the bundle shows an operation its own error codes, shares their examples and holds the others in place', async () => {
  const document = await bundle(base);
  const operation = document.paths?.['/agents/{agentPublicId}']?.get as Operation;
  expect(operation.description).toBe('Reads an agent.\n\nError codes: 404 `AGENT_NOT_FOUND`.');
  expect(operation.responses?.['200']?.content?.['application/json']?.examples?.found?.summary).toBe('The new agent');
  expect(Object.keys(document.components ?? {}).toSorted()).toEqual([
    'examples',
    'parameters',
    'responses',
    'schemas',
    'securitySchemes',
  ]);
  expect(document.components?.examples).toMatchObject({ AGENT_NOT_FOUND: { value: { code: 'AGENT_NOT_FOUND' } } });
  expect(document.components?.examples).not.toHaveProperty('found');
});
