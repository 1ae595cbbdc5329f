import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BurnDown, judge, requiredOutcomes } from '../support/run/coverageGate.ts';

const document = {
  openapi: '3.1.1',
  paths: {
    '/agents/{agentPublicId}': {
      get: {
        operationId: 'getAgent',
        responses: {
          200: {},
          400: { $ref: '#/components/responses/BadRequest' },
          404: { $ref: '#/components/responses/NotFound' },
          409: { $ref: '#/components/responses/NotFound' },
        },
        'x-error-codes': { 400: ['IMMUTABLE_FIELD'], 404: ['AGENT_NOT_FOUND', 'AI_MODEL_NOT_FOUND'], 409: ['TAKEN'] },
      },
    },
    '/skills': { get: { operationId: 'listSkills', responses: { 200: {}, 401: {}, 404: {} } } },
  },
  components: { responses: { BadRequest: { 'x-error-codes': ['VALIDATION_ERROR'] }, NotFound: {} } },
};

const complete = [
  { operationId: 'getAgent', status: 200 },
  { operationId: 'getAgent', status: 400, code: 'VALIDATION_ERROR' },
  { operationId: 'getAgent', status: 400, code: 'IMMUTABLE_FIELD' },
  { operationId: 'getAgent', status: 404, code: 'AGENT_NOT_FOUND' },
  { operationId: 'getAgent', status: 404, code: 'AI_MODEL_NOT_FOUND' },
  { operationId: 'listSkills', status: 401 },
];
const burnDown: BurnDown = { notImplemented: ['listSkills'], unexercised: { getAgent: ['409 TAKEN'] } };

describe('requiredOutcomes', () => {
  test('requires each status and each own code, but only the common statuses of an operation without a handler', () => {
    const required = requiredOutcomes(document, ['listSkills']);
    expect([...(required.get('getAgent') ?? [])]).toEqual([
      '200',
      '400',
      '400 IMMUTABLE_FIELD',
      '404 AGENT_NOT_FOUND',
      '404 AI_MODEL_NOT_FOUND',
      '409 TAKEN',
    ]);
    expect([...(required.get('listSkills') ?? [])]).toEqual(['401']);
  });
});

describe('judge', () => {
  test('finds no fault when every outcome is provoked or listed', () => {
    expect(judge(document, burnDown, complete)).toEqual({ missing: [], stale: [], undocumented: [] });
  });

  test('names an outcome that no test provokes', () => {
    expect(judge(document, burnDown, complete.slice(1)).missing).toEqual(['getAgent 200']);
  });

  test('distinguishes the codes of one status', () => {
    const hits = complete.filter((hit) => hit.code !== 'AI_MODEL_NOT_FOUND');
    expect(judge(document, burnDown, hits).missing).toEqual(['getAgent 404 AI_MODEL_NOT_FOUND']);
  });

  test('names an entry of the list that is exercised', () => {
    const hits = [...complete, { operationId: 'getAgent', status: 409, code: 'TAKEN' }];
    expect(judge(document, burnDown, hits).stale).toEqual(['getAgent 409 TAKEN (exercised)']);
  });

  test('names entries of the list that the document does not promise', () => {
    const list = {
      notImplemented: ['listSkills', 'gone'],
      unexercised: { getAgent: ['409 TAKEN', '410'], lost: ['200'] },
    };
    expect(judge(document, list, complete).stale).toEqual([
      'gone (notImplemented: no such operation)',
      'getAgent 410 (not promised)',
      'lost 200 (not promised)',
    ]);
  });

  test('names a response that the document does not have, except the 501 of an operation without a handler', () => {
    const hits = [...complete, { operationId: 'getAgent', status: 418 }, { operationId: 'listSkills', status: 501 }];
    expect(judge(document, burnDown, hits).undocumented).toEqual(['getAgent 418']);
  });
});

type Outcome = { code: number; output: string };

describe('a jest run with the reporter', () => {
  const root = join(import.meta.dirname, '../..');
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'guildhall-gate-'));
    for (const name of ['jest', 'tests/support', 'spec/rules/types.ts', 'package.json'])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const config = `import whole from '${join(root, 'jest.config.js')}';
const { globalSetup, globalTeardown, ...rest } = whole;
export default { ...rest, rootDir: import.meta.dirname };`;
    put('jest.config.mjs', config);
    put('generated/openapi.json', JSON.stringify(document));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  function put(name: string, text: string): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  /** Runs one test that provokes these outcomes. */
  async function run(hits: typeof complete, ...filter: string[]): Promise<Outcome> {
    put('tests/spec/burn-down.json', JSON.stringify(burnDown));
    const calls = hits.map(
      ({ operationId, status, code }) => `record('${operationId}', ${status}, ${JSON.stringify(code)});`,
    );
    put(
      'tests/one.test.ts',
      `import { record } from './support/run/coverage.ts';\ntest('one', () => { ${calls.join(' ')} });`,
    );
    return await jest(...filter);
  }

  async function jest(...filter: string[]): Promise<Outcome> {
    const args = ['--experimental-vm-modules', join(root, 'node_modules/jest/bin/jest.js'), ...filter];
    return await new Promise((done) => {
      execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) =>
        done({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });
  }

  test('passes when every outcome is exercised or listed', async () => {
    expect(await run(complete)).toMatchObject({ code: 0 });
  });

  test('fails when an outcome is neither exercised nor listed, or the list is stale, and names both', async () => {
    const { code, output } = await run([...complete.slice(1), { operationId: 'getAgent', status: 409, code: 'TAKEN' }]);
    expect(code).toBe(1);
    expect(output).toContain('no test provokes getAgent 200');
    expect(output).toContain('stale in tests/spec/burn-down.json: getAgent 409 TAKEN (exercised)');
  });

  test('does not judge a run of only some tests', async () => {
    expect(await run([], 'tests/one')).toMatchObject({ code: 0 });
    expect(await run([], '--testNamePattern', 'one')).toMatchObject({ code: 0 });
  });

  test('has a worker for the files that wait, beside two for the others; a failure in it counts', async () => {
    const files = ['tests/meet/one.test.ts', 'tests/meet/two.test.ts', 'tests/faults/meet.test.ts'];
    for (const file of files)
      put(
        file,
        `import { existsSync, writeFileSync } from 'node:fs';
import { until } from '${join(root, 'tests/support/poll.ts')}';
const all = ${JSON.stringify(files.map((each) => join(folder, `${each}.begun`)))};
test('meets the others', async () => {
  writeFileSync('${join(folder, `${file}.begun`)}', '');
  await until(() => all.every((each) => existsSync(each)), 60_000);
});`,
      );
    expect(await jest('meet')).toMatchObject({ code: 0, output: expect.stringContaining('3 passed, 3 total') });
    put('tests/faults/meet.test.ts', `test('fails', () => expect(1).toBe(2));`);
    expect(await jest('meet')).toMatchObject({ code: 1, output: expect.stringContaining('1 failed, 2 passed') });
  });
});
