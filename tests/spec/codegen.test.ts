import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { staleFiles, writeFiles } from '../../scripts/codegen/files.ts';
import { handlersModule, surveyHandlers } from '../../scripts/codegen/handlers.ts';
import { apiPrefix, operationRows, operationsModule } from '../../scripts/codegen/operations.ts';
import { scaffold } from '../../scripts/newOperation/scaffold.ts';
import type { Document } from '../../spec/rules/types.ts';

const root = join(import.meta.dirname, '../..');
const document: Document = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
const rows = operationRows(document);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-codegen-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

describe('operationRows', () => {
  test('has the facts of each operation that the service and the tests need', () => {
    expect(rows.find((row) => row.operationId === 'createAgent')).toEqual({
      operationId: 'createAgent',
      method: 'POST',
      path: '/agents',
      tag: 'Agents',
      folder: 'agents',
      summary: 'Create an agent',
      status: 201,
      statuses: [201, 400, 401, 409, 413, 415, 422, 429, 500, 503],
      errorCodes: {
        400: ['VALIDATION_ERROR'],
        401: ['MISSING_API_KEY', 'INVALID_API_KEY_FORMAT', 'INVALID_API_KEY'],
        409: ['AGENT_NAME_TAKEN', 'IDEMPOTENCY_IN_PROGRESS'],
        413: ['PAYLOAD_TOO_LARGE'],
        415: ['UNSUPPORTED_MEDIA_TYPE'],
        422: ['AGENT_LIMIT_REACHED', 'IDEMPOTENCY_KEY_REUSED'],
        429: ['RATE_LIMITED'],
        500: ['INTERNAL_ERROR'],
        503: ['UNAVAILABLE'],
      },
      requestBody: 'json',
      bodyRequired: true,
    });
  });

  test('refuses a body that no parser reads', () => {
    const odd: Document = { openapi: '3.1.1', paths: {} };
    const content = { 'text/csv': {} };
    const post = { operationId: 'sendRows', tags: ['A'], requestBody: { content }, responses: { 204: {} } };
    odd.paths = { '/rows': { post } };
    expect(() => operationRows(odd)).toThrow('sendRows: no parser reads a body of text/csv');
  });
});

describe('apiPrefix', () => {
  function server(url: string, origin = 'http://127.0.0.1:3000') {
    return { url, variables: { origin: { default: origin } } };
  }

  test('is the path of the only server', () => {
    const servers = [server('{origin}/public/api/v1')];
    expect(apiPrefix({ openapi: '3.1.1', servers })).toBe('/public/api/v1');
  });

  test.each(['', 'example.com', '/', 'http://127.0.0.1:3000/'])('refuses the origin %j', (origin) => {
    const servers = [server('{origin}/v1', origin)];
    expect(() => apiPrefix({ openapi: '3.1.1', servers })).toThrow('the variable origin needs a default');
  });

  test('refuses a server whose origin has no default', () => {
    const servers = [{ url: '{origin}/v1' }];
    expect(() => apiPrefix({ openapi: '3.1.1', servers })).toThrow('the variable origin needs a default');
  });

  test.each([
    [undefined],
    [[]],
    [[server('/v1')]],
    [[server('{origin}')]],
    [[server('{origin}/')]],
    [[server('{origin}/v1/')]],
    [[server('{host}/v1')]],
    [[server('https://example.com/v1')]],
    [[server('{origin}/v1'), server('{origin}/v2')]],
  ])('refuses servers of %j', (servers) => {
    expect(() => apiPrefix({ openapi: '3.1.1', ...(servers && { servers }) })).toThrow('servers: needs exactly one');
  });
});

describe('surveyHandlers', () => {
  const two = rows.filter((row) => ['getAgent', 'listAgents'].includes(row.operationId));
  const handler = (id: string) => `export const ${id}: Handler<'${id}'> = async () => {};\n`;

  test('finds no fault when each operation has a handler or is pending', () => {
    put('handlers/agents/getAgent.ts', handler('getAgent'));
    put('domain/agents/config/config.ts', 'export const agentBody = 1;\n');
    const survey = surveyHandlers(folder, two, ['listAgents']);
    expect(survey.faults).toEqual([]);
    expect(survey.pending).toEqual(['listAgents']);
    expect(handlersModule(survey)).toContain("import { getAgent } from '../handlers/agents/getAgent.ts';");
  });

  test('names an operation with neither handler nor entry in the list', () => {
    put('handlers/agents/getAgent.ts', handler('getAgent'));
    expect(surveyHandlers(folder, two, []).faults).toEqual([expect.stringContaining('listAgents has neither')]);
  });

  test('names an entry that has a handler, and one that is no operation', () => {
    put('handlers/agents/getAgent.ts', handler('getAgent'));
    expect(surveyHandlers(folder, two, ['getAgent', 'listAgents', 'gone']).faults).toEqual([
      expect.stringContaining('getAgent has a handler'),
      expect.stringContaining('gone is no operation'),
    ]);
  });

  test('names a handler of no operation, and one in the wrong folder', () => {
    put('handlers/agents/getAgent.ts', handler('getAgent'));
    put('handlers/agents/findAgent.ts', handler('findAgent'));
    put('handlers/skills/listAgents.ts', handler('listAgents'));
    expect(surveyHandlers(folder, two, ['listAgents']).faults.toSorted()).toEqual([
      'handlers/agents/findAgent.ts: findAgent is the handler of no operation',
      'handlers/skills/listAgents.ts: listAgents belongs into handlers/agents/listAgents.ts',
    ]);
  });
});

describe('staleFiles', () => {
  test('finds no fault in files just written, and names files that differ, are missing or are left over', () => {
    const files = { 'operations.ts': operationsModule('/api', rows), 'api.ts': 'export {};\n' };
    writeFiles(folder, files);
    expect(staleFiles(folder, files)).toEqual([]);
    put('operations.ts', operationsModule('/api', rows.slice(1)));
    rmSync(join(folder, 'api.ts'));
    put('old.ts', '');
    expect(staleFiles(folder, files)).toEqual([
      'generated/operations.ts is stale: run npm run codegen',
      'generated/api.ts is stale: run npm run codegen',
      'generated/old.ts is written by nobody',
    ]);
    expect(readdirSync(folder).toSorted()).toEqual(['old.ts', 'operations.ts']);
  });
});

describe('scaffold', () => {
  test('writes a handler and a test that type-check, whatever the operation takes, and a handler that throws', () => {
    const chosen = [...new Map(rows.map((row) => [`${row.method} ${row.requestBody} ${row.status}`, row])).values()];
    const texts = new Map(
      chosen.flatMap((row) =>
        Object.entries(scaffold(row, document)).map(([name, text]) => [join(root, name), text] as const),
      ),
    );
    const config = ts.parseJsonConfigFileContent(
      ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
      ts.sys,
      root,
    );
    const host = ts.createCompilerHost(config.options);
    const { readFile, fileExists } = host;
    host.readFile = (file) => texts.get(file) ?? readFile(file);
    host.fileExists = (file) => texts.has(file) || fileExists(file);
    const files = [...texts.keys()];
    const handlers = files.filter((file) => file.startsWith(join(root, 'handlers')));
    const program = ts.createProgram(files, config.options, host);
    const faults = files.flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)));
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([]);
    expect(handlers.length).toBeGreaterThan(5);
    for (const file of handlers) expect(texts.get(file)).toContain('throw new Error');
  });
});
