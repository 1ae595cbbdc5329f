import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandRows } from '../../../clients/cli/commands.ts';
import { commandGroups } from '../../../generated/commands.ts';
import { type CommandField, commandTable } from '../../../generated/commandTable.ts';
import { API_PREFIX, type OperationId, operations } from '../../../generated/operations.ts';
import { guildhallCommand } from '../../support/clients/commandLine.ts';
import { type OddServer, startOddServer } from '../../support/clients/oddServer.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

type Json = Record<string, unknown>;
const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../../generated/openapi.json'), 'utf8'));
const ids = Object.keys(operations) as OperationId[];
const replaced = new Set(commandRows.map(({ words }) => words.join(' ')));
/** The operations whose generated command can be called: a hand-written one stands in the place of the others. */
const generated = ids.filter((id) => !replaced.has(commandTable[id].words.join(' ')));

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-commands-'));
  file = join(folder, 'answers.md');
  await writeFile(file, '# Answers\n');
});
afterAll(async () => await rm(folder, { recursive: true }));

/** The first example of an operation's JSON body in the document. */
function exampleBody(id: OperationId): Json | undefined {
  const { method, path } = operations[id];
  const content = document.paths[path][method.toLowerCase()].requestBody?.content?.['application/json'];
  const [first] = Object.values<Json>(content?.examples ?? {});
  const example = first?.$ref ? document.components.examples[String(first.$ref).split('/').at(-1) ?? ''] : first;
  return example?.value as Json | undefined;
}

/** A body as flags. */
function flagsFor(fields: readonly CommandField[], body: Json): string[] {
  return fields.flatMap(({ name, flag, type, list }): string[] => {
    const value = body[name];
    const text = (each: unknown) =>
      typeof each === 'string' && type !== 'json' && type !== 'any' ? each : JSON.stringify(each);
    if (value === undefined) return [];
    if (value === null) return ['--null', flag];
    if (list && Array.isArray(value) && value.length > 0) return value.flatMap((each) => [`--${flag}`, text(each)]);
    if (type === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
    return [`--${flag}`, text(value)];
  });
}

/** A whole call of an operation, with the document's example as its body, and the path and body that have to arrive. */
function callOf(id: OperationId): { argv: string[]; path: string; body: Json | undefined } {
  const row = commandTable[id];
  const values = row.variables.map(({ name, choices }) =>
    name === 'versionNumber' ? '1' : (choices?.[0] ?? (/PublicId$/.test(name) ? randomUUID() : 'some_name')),
  );
  const body = row.body === 'multipart' ? undefined : exampleBody(id);
  const query = row.query.filter(({ required }) => required).flatMap(({ flag }) => [`--${flag}`, 'acme']);
  const flags = body ? flagsFor([...row.fields, ...row.query], body) : row.body === 'multipart' ? ['--file', file] : [];
  const path = row.path.replace(/\{\w+\}/g, () => values.shift() ?? '');
  return { argv: [...row.words, ...argumentsIn(row.path, path), ...query, ...flags, '--yes'], path, body };
}

/** The values that the variables of a template have in a path. */
function argumentsIn(template: string, path: string): string[] {
  const parts = path.split('/');
  return template.split('/').flatMap((part, index) => (part.startsWith('{') ? [parts[index] ?? ''] : []));
}

test('every operation has a command, and no two have the same words', () => {
  const words = ids.map((id) => commandTable[id].words.join(' '));
  expect(new Set(words).size).toBe(ids.length);
  const listed = Object.entries(commandGroups).flatMap(([group, { commands }]) =>
    commands.map(({ words: verb, operationId }) => [operationId, [group, ...verb].join(' ')]),
  );
  expect(listed.toSorted()).toEqual(ids.map((id, index) => [id, words[index]]).toSorted());
});

test('every command has a help with its arguments, an example and the exit codes', async () => {
  for (const id of ids) {
    const { words, variables, query, fields } = commandTable[id];
    const { exitCode, stdout, stderr } = await guildhallCommand([...words, '--help']);
    expect({ id, exitCode, stderr }).toEqual({ id, exitCode: 0, stderr: '' });
    expect(stdout).toContain(`guildhall ${words.join(' ')}`);
    expect(stdout).toContain('Examples:');
    expect(stdout).toContain('Exit codes:');
    if (!generated.includes(id)) continue;
    for (const { label } of variables) expect(stdout).toContain(`<${label}>`);
    for (const { flag } of [...query, ...fields]) expect(stdout).toContain(`--${flag}`);
  }
});

describe('against a server that notes what arrives', () => {
  let server: OddServer;
  beforeAll(async () => {
    server = await startOddServer();
  });
  afterAll(async () => await server.close());

  test("every command sends its operation, and the document's example as its body when that is given as flags", async () => {
    const env = { GUILDHALL_BASE_URL: server.origin, GUILDHALL_API_KEY: 'gsk_any' };
    for (const id of generated) {
      const { argv, path, body } = callOf(id);
      const before = server.received.length;
      const ran = await guildhallCommand(argv, { env });
      const got = server.received.slice(before);
      if (got.length !== 1) throw new Error(`${argv.join(' ')}: ${got.length} requests. ${ran.stderr}`);
      const [{ method, url, body: sent } = { method: '', url: '', body: '' }] = got;
      expect(`${method} ${url.replace(/\?.*/, '')}`).toBe(`${operations[id].method} ${API_PREFIX}${path}`);
      // A field that the query takes, too, goes there.
      if (body && commandTable[id].fields.length > 0) expect({ id, body: JSON.parse(sent) }).toEqual({ id, body });
    }
  });
});

describe('against the service', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(async () => await app.close());

  test('no command is refused as a request of no operation, or as one that the schema does not allow', async () => {
    const env = { GUILDHALL_BASE_URL: app.origin, GUILDHALL_API_KEY: app.workspace.apiKey };
    const seen: Record<string, number> = {};
    for (const id of generated) {
      const { argv } = callOf(id);
      const { exitCode, stdout } = await guildhallCommand([...argv, '--json'], { env });
      const code = exitCode === 0 ? 'OK' : JSON.parse(stdout.trim().split('\n').at(-1) ?? '').error.code;
      seen[code] = (seen[code] ?? 0) + 1;
      expect({ id, code }).not.toEqual({
        id,
        code: expect.stringMatching(/^(NOT_FOUND|METHOD_NOT_ALLOWED|VALIDATION_ERROR|usage|internal)$/),
      });
    }
    // Many succeed, and the ids of the others do not exist.
    expect(seen.OK).toBeGreaterThan(25);
    expect(seen.AGENT_NOT_FOUND).toBeGreaterThan(25);
  });
});
