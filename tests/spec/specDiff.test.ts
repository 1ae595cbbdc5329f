import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, compareDocuments } from '../../scripts/specDiff/compare.ts';
import type { Document, Operation, Schema } from '../../spec/rules/types.ts';

const paths = ['/agents', '/agents/{agentPublicId}'];
const text = JSON.stringify(excerpt(JSON.parse(readFileSync('generated/openapi.json', 'utf8')), paths));

/** Some paths of the real document, all that they refer to, and one free-form field. To compare all of it takes seconds. */
function excerpt(document: Document, kept: string[]): Document {
  const small = { ...document, paths: Object.fromEntries(kept.map((path) => [path, document.paths?.[path] ?? {}])) };
  for (const item of Object.values(small.paths))
    for (const node of Object.values(item) as Operation[])
      for (const status of ['401', '413', '415', '429', '500', '503']) delete node.responses?.[status];
  const used = new Set<string>();
  const follow = (node: unknown) => {
    for (const [, kind = '', name = ''] of JSON.stringify(node).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      if (used.has(`${kind}/${name}`)) continue;
      used.add(`${kind}/${name}`);
      follow(document.components?.[kind]?.[name]);
    }
  };
  follow(small.paths);
  const some = (kind: string, named: object) => Object.entries(named).filter(([name]) => used.has(`${kind}/${name}`));
  small.components = Object.fromEntries(
    Object.entries(document.components ?? {}).map(([kind, named]) => [kind, Object.fromEntries(some(kind, named))]),
  );
  schema(small, 'AgentCreate').properties.metadata = { type: 'object', additionalProperties: true };
  return small;
}

/** The findings of the comparison for one change of the real document. */
function changesOf(change: (document: Document) => void): Change[] {
  const changed: Document = JSON.parse(text);
  change(changed);
  return compareDocuments(JSON.parse(text), changed);
}

function operation(document: Document, path: string, method: string): Operation {
  return document.paths?.[path]?.[method] as Operation;
}

function schema(document: Document, name: string): Required<Pick<Schema, 'properties' | 'required'>> & Schema {
  return document.components?.schemas?.[name] as Required<Pick<Schema, 'properties' | 'required'>>;
}

/** The values that a list names, to which more may come. */
function openList(document: Document, name: string): string[] {
  return schema(document, name)['x-extensible-enum'] as string[];
}

function property(document: Document, name: string, key: string): Schema {
  return schema(document, name).properties[key] as Schema;
}

const agentPath = '/agents/{agentPublicId}';

const cases: [kind: Change['kind'], what: string, change: (document: Document) => void][] = [
  ['breaking', 'an operation is gone', (d) => delete d.paths?.[agentPath]?.delete],
  ['breaking', 'a path is gone', (d) => delete d.paths?.[agentPath]],
  [
    'breaking',
    'an operation has another name',
    (d) => Object.assign(operation(d, agentPath, 'get'), { operationId: 'readAgent' }),
  ],
  ['breaking', 'a property is gone from a response', (d) => delete schema(d, 'Agent').properties.systemPrompt],
  [
    'breaking',
    'a property of a response may be null',
    (d) => Object.assign(property(d, 'Agent', 'name'), { type: ['string', 'null'] }),
  ],
  [
    'breaking',
    'a property of a response has another type',
    (d) => Object.assign(property(d, 'Agent', 'name'), { type: 'integer' }),
  ],
  ['breaking', 'a property of a response may be absent', (d) => schema(d, 'Agent').required.shift()],
  [
    'breaking',
    'a required property is new in a request',
    (d) => {
      schema(d, 'AgentCreate').properties.owner = { type: 'string' };
      schema(d, 'AgentCreate').required.push('owner');
    },
  ],
  [
    'breaking',
    'a property is gone from a strict request',
    (d) => delete schema(d, 'AgentCreate').properties.description,
  ],
  [
    'breaking',
    'a property of a request may no longer be null',
    (d) => Object.assign(property(d, 'AgentCreate', 'description'), { type: 'string' }),
  ],
  [
    'breaking',
    'a text of a request must be shorter',
    (d) => Object.assign(property(d, 'AgentCreate', 'name'), { maxLength: 20 }),
  ],
  [
    'breaking',
    'a text of a request gets a pattern',
    (d) => Object.assign(property(d, 'AgentCreate', 'name'), { pattern: '^A' }),
  ],
  [
    'breaking',
    'a free-form object of a request closes',
    (d) => {
      property(d, 'AgentCreate', 'metadata').additionalProperties = false;
    },
  ],
  [
    'breaking',
    'a success has another status',
    (d) => {
      const { responses = {} } = operation(d, '/agents', 'post');
      responses['200'] = responses['201'] ?? {};
      delete responses['201'];
    },
  ],
  ['breaking', 'a query parameter is gone', (d) => operation(d, '/agents', 'get').parameters?.pop()],
  [
    'breaking',
    'a query parameter becomes required',
    (d) =>
      operation(d, '/agents', 'get').parameters?.push({
        name: 'q',
        in: 'query',
        required: true,
        schema: { type: 'string' },
      }),
  ],
  ['breaking', 'the service moves', (d) => Object.assign(d, { servers: [{ url: '/public/api/v2' }] })],
  [
    'non-breaking',
    'an operation is new',
    (d) => {
      const known = operation(d, agentPath, 'get');
      Object.assign(d.paths ?? {}, {
        '/agents/{agentPublicId}/status': { get: { ...known, operationId: 'getAgentStatus' } },
      });
    },
  ],
  [
    'non-breaking',
    'a property is new in a response',
    (d) => {
      schema(d, 'Agent').properties.colour = { type: 'string' };
      schema(d, 'Agent').required.push('colour');
    },
  ],
  [
    'non-breaking',
    'an optional property is new in a request',
    (d) => {
      schema(d, 'AgentCreate').properties.owner = { type: 'string' };
    },
  ],
  [
    'non-breaking',
    'a property of a request may be null',
    (d) => Object.assign(property(d, 'AgentCreate', 'name'), { type: ['string', 'null'] }),
  ],
  [
    'non-breaking',
    'a property of a response is never null any more',
    (d) => Object.assign(property(d, 'Agent', 'systemPrompt'), { type: 'string' }),
  ],
  [
    'non-breaking',
    'a text of a request may be longer',
    (d) => Object.assign(property(d, 'AgentCreate', 'name'), { maxLength: 900 }),
  ],
  [
    'non-breaking',
    'an error status is new',
    (d) => {
      const { responses = {} } = operation(d, agentPath, 'get');
      responses['409'] = { $ref: '#/components/responses/Conflict' };
    },
  ],
  [
    'non-breaking',
    'an operation has a new error code',
    (d) => operation(d, agentPath, 'get')['x-error-codes']?.['404']?.push('NEW'),
  ],
  ['non-breaking', 'the list of error codes grows', (d) => openList(d, 'ErrorCode').push('NEW_CODE')],
  [
    'non-breaking',
    'an optional query parameter is new',
    (d) => operation(d, '/agents', 'get').parameters?.push({ name: 'q', in: 'query', schema: { type: 'string' } }),
  ],
];

describe('compareDocuments', () => {
  test.each(cases)('%s: %s', (kind, _what, change) => {
    const kinds = new Set(changesOf(change).map((each) => each.kind));
    expect(kinds.has('breaking') ? 'breaking' : [...kinds][0]).toBe(kind);
  });

  test('an enum that shrinks breaks senders, one that grows breaks readers', () => {
    const withEnum = (values: string[]): Document => {
      const document: Document = JSON.parse(text);
      schema(document, 'AgentCreate').properties.kind = { enum: values };
      schema(document, 'Agent').properties.kind = { enum: values };
      return document;
    };
    const kindsAt = (changes: Change[], kind: string) =>
      changes.filter((change) => change.kind === kind).map(({ what }) => what);
    const shrunk = compareDocuments(withEnum(['a', 'b']), withEnum(['a']));
    expect(kindsAt(shrunk, 'breaking')).toEqual([expect.stringContaining('Request Body')]);
    expect(kindsAt(shrunk, 'non-breaking')).toEqual(expect.arrayContaining([expect.stringContaining('Response 200')]));
    const grown = compareDocuments(withEnum(['a']), withEnum(['a', 'b']));
    expect(kindsAt(grown, 'breaking')).toEqual(expect.arrayContaining([expect.stringContaining('Response 200')]));
    expect(kindsAt(grown, 'non-breaking')).toEqual([expect.stringContaining('Request Body')]);
  });

  test('texts, examples and the order of types and parameters are no change', () => {
    expect(
      changesOf((document) => {
        const { parameters = [], ...rest } = operation(document, '/agents', 'get');
        Object.assign(operation(document, '/agents', 'get'), {
          ...rest,
          summary: 'Other',
          parameters: parameters.reverse(),
        });
        const prompt = property(document, 'Agent', 'systemPrompt');
        Object.assign(prompt, { description: 'Other', examples: ['x'], type: [prompt.type].flat().reverse() });
        Object.assign(document.info as object, { version: '9.9.9' });
      }),
    ).toEqual([]);
  });

  test('says what changed and where', () => {
    expect(
      changesOf((document) => Object.assign(property(document, 'AgentCreate', 'name'), { maxLength: 20 })),
    ).toEqual([
      {
        kind: 'breaking',
        where: 'POST /agents',
        what: 'replaced maxLength validator of `name` in Request Body content (application/json): 150 became 20',
      },
    ]);
  });
});

describe('npm run spec:diff', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'guildhall-diff-'));
    cpSync(join(import.meta.dirname, 'rules/base'), join(folder, 'spec'), { recursive: true });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        cwd: folder,
        stdio: 'pipe',
      });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'nothing');
    git('tag', 'empty');
    git('add', '.');
    git('commit', '--quiet', '--message', 'document');
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  function specDiff(...args: string[]): Promise<{ code: number; output: string }> {
    const script = join(import.meta.dirname, '../../scripts/specDiff.ts');
    return new Promise((done) => {
      execFile(process.execPath, [script, ...args], { cwd: folder }, (error, stdout, stderr) =>
        done({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });
  }

  test('ends with 0 when nothing breaks', async () => {
    expect(await specDiff('HEAD')).toEqual({
      code: 0,
      output: expect.stringMatching(/^0 breaking\n0 non-breaking\nNot seen: [^\n]+\n$/),
    });
  }, 30_000);

  test('ends with 1 on a breaking change of the working copy and names it', async () => {
    const file = join(folder, 'spec/schemas/agents/AgentCreate.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('maxLength: 150', 'maxLength: 15'));
    const { code, output } = await specDiff('HEAD');
    expect(code).toBe(1);
    expect(output).toContain('POST /agents  replaced maxLength validator of `name`');
  }, 30_000);

  test('ends with 0 when the revision has no document, with 2 when there is no such revision', async () => {
    expect((await specDiff('empty')).code).toBe(0);
    expect((await specDiff('no-such-revision')).code).toBe(2);
  }, 30_000);
});
