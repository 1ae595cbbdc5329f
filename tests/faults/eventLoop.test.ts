import { API_PREFIX } from '../../generated/operations.ts';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { until } from '../support/poll.ts';
import type { TlsServer } from '../support/servers/mcp.ts';
import { useCertificate } from '../support/servers/mcp.ts';
import { tool as mcpTool, startRawMcp } from '../support/servers/mcpHostile.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { skillMd } from '../support/tools/skills.ts';
import { demoFolder } from './demoFolder.ts';
import { call, cleanUp, json, type ServiceProcess, startService } from './service.ts';

/*
 * Everything known that a tenant, an end user, or the answer of a server or a model can send to make the service compute for long. The
 * service is a process of its own, and this one plays the others. loopWatch.ts measures.
 */

/** Milliseconds that a turn of the event loop may keep the processor, on a machine of slowness 1 (tests/support/processorTime.ts). */
const LIMIT_MS = 50;

const MIB = 1024 * 1024;
const certificate = useCertificate();

let server: ModelServer;
let tools: ToolServer;
let mcp: TlsServer;
let service: ServiceProcess;
let key: string;
let agentId: string;

/** What the MCP server lists, and what its tools answer. */
let listed: object[] = [mcpTool('echo')];
let mcpResult: unknown = { content: [{ type: 'text', text: 'x' }] };

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  mcp = await startRawMcp(certificate, ({ method, result }) => {
    if (method === 'tools/list') return result({ tools: listed });
    if (method === 'tools/call') return result(mcpResult);
    return false;
  });
  const { writeFile } = await import('node:fs/promises');
  const demo = await demoFolder();
  ({ agentId, key } = demo);
  const authority = `${demo.dataDir}.pem`;
  await writeFile(authority, certificate.cert);
  service = await startService(
    {
      GUILDHALL_DATA_DIR: demo.dataDir,
      GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
      GUILDHALL_RATE_LIMIT: '0',
      NODE_EXTRA_CA_CERTS: authority,
      OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
      OPENAI_COMPATIBLE_MODELS: 'local-model',
    },
    [process.execPath, '--import', './tests/faults/loopWatch.ts', 'server/main.ts'],
  );
  await api('PATCH', `/agents/${agentId}`, { aiModelPublicId: globalModelId('openai-compatible', 'local-model') });
});
beforeEach(() => server.reset());
afterAll(async () => {
  await cleanUp();
  await mcp.close();
  await tools.close();
  await server.close();
});

const api = (method: string, path: string, body?: object) => json(call(service.origin, key, method, path, body));

/** Sends a body as it is. Returns the status. */
async function raw(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(`${service.origin}${API_PREFIX}${path}`, {
    method: 'POST',
    headers: { 'X-Api-Key': key, 'Content-Type': 'application/json', ...headers },
    body,
  });
  await answer.text();
  return answer.status;
}

/** What the loop of the service was since the last call: the longest turn, and how fast the machine is. */
async function watched(): Promise<{ longestMs: number; slowness: number }> {
  const lines = () => service.output().stdout.match(/^loop .*$/gm) ?? [];
  const before = lines().length;
  service.child.kill('SIGUSR2');
  await until(async () => lines().length > before);
  return JSON.parse(lines()[before]?.slice('loop '.length) ?? '');
}

const figures: string[] = [];
afterAll(() => {
  if (process.env.LOOP_FIGURES) process.stderr.write(`${figures.join('\n')}\n`);
});

/** Measured runs of a work: what runs beside the service on the same processor lengthens a turn, and never shortens it. */
const RUNS = 3;

/**
 * Does the work once, as code is loaded at its first use, and then again. Expects that it blocked the loop for no longer than the limit: the
 * shortest of the measured runs counts.
 */
async function expectFreeLoop(work: () => Promise<unknown>): Promise<void> {
  await work();
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && shortest >= LIMIT_MS; run += 1) {
    const before = await watched();
    await work();
    const after = await watched();
    shortest = Math.min(shortest, after.longestMs / Math.max(before.slowness, after.slowness));
  }
  figures.push(`${shortest.toFixed(0).padStart(6)} ms  ${expect.getState().currentTestName}`);
  expect(shortest).toBeLessThan(LIMIT_MS);
}

let made = 0;

/** A tool of this configuration. Returns its id and name. */
async function makeTool(configuration: object): Promise<{ publicId: string; name: string }> {
  made += 1;
  return api('POST', '/http-tools', { name: `tool_${made}`, toolType: 'HTTP_REQUEST', configuration });
}

/** Registers the MCP server and links it to the agent. Returns its id. */
async function linkServer(): Promise<string> {
  made += 1;
  const server = { name: `Server ${made}`, url: `${mcp.origin}/mcp`, authType: 'NONE' };
  const { publicId } = await api('POST', '/external-mcps', server);
  await api('POST', `/agents/${agentId}/external-mcps`, { externalMcpPublicId: publicId });
  await api('POST', `/agents/${agentId}/publish`, {});
  return publicId;
}

const removeServer = (publicId: string) => call(service.origin, key, 'DELETE', `/external-mcps/${publicId}`);

const properties = (count: number, schema: (index: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema(index)]));

/** Links the tools to the agent, has it send a message, and has the model make these calls. */
async function turnWith(calls: { name: string; arguments: string }[], content = 'Go.'): Promise<void> {
  server.reset();
  server.script({ reply: '', toolCalls: calls.map((each, index) => ({ id: `call_${index}`, ...each })) });
  await api('POST', `/agents/${agentId}/messages`, { content, timeoutSeconds: 120 });
}

describe('bodies of requests', () => {
  const unknown = `{${Array.from({ length: 49_000 }, (_, index) => `"k${index}":1`).join()}}`;
  test.each<[string, string, string]>([
    ['49,000 unknown fields', '/agents', unknown],
    ['49,000 wrong items', '/agents', `{"name":"a","tags":[${'{},'.repeat(49_000)}{}]}`],
    ['1,000,000 arrays in each other', '/agents', '['.repeat(MIB) + ']'.repeat(MIB)],
    ['objects in each other', '/agents', '{"a":'.repeat(MIB / 3)],
    ['700,000 empty arrays', '/agents', `[${'[],'.repeat(690_000)}[]]`],
    ['one number of 2 MB', '/agents', '1'.repeat(2 * MIB - 10)],
    ['a text of 2 MB', '/agents', JSON.stringify({ name: 'x'.repeat(2 * MIB - 100) })],
    ['one name of 2 MB', '/agents', JSON.stringify({ ['~/'.repeat(MIB - 100)]: 1 })],
  ])('%s', async (_, path, body) => {
    await expectFreeLoop(async () => expect(await raw(path, body)).toBe(400));
  });

  test('a large valid body with an Idempotency-Key', async () => {
    let used = 0;
    const body = properties(20_000, () => ({}));
    await expectFreeLoop(async () => {
      used += 1;
      const tool = {
        name: `keyed_${used}`,
        toolType: 'HTTP_REQUEST',
        configuration: { url: tools.origin, method: 'POST', body },
      };
      expect(await raw('/http-tools', JSON.stringify(tool), { 'Idempotency-Key': `key-${used}` })).toBe(201);
    });
  });
});

describe('schemas', () => {
  const nested = (depth: number): object => (depth > 0 ? { items: nested(depth - 1) } : {});
  test.each<[string, object]>([
    ['large', properties(1_100, () => ({ type: 'string' }))],
    ['of lists in lists', properties(120, () => nested(25))],
    ['of alternatives', properties(500, () => ({ anyOf: [{ type: 'string' }, { minLength: 2 }] }))],
    ['wrong everywhere', properties(1_500, () => ({ type: 'no' }))],
  ])('%s', async (_, fields) => {
    await expectFreeLoop(async () => {
      made += 1;
      const configuration = { url: tools.origin, inputSchema: { type: 'object', properties: fields } };
      await raw('/http-tools', JSON.stringify({ name: `s_${made}`, toolType: 'HTTP_REQUEST', configuration }));
    });
  });

  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_, level) => [
      `a${level}`,
      { allOf: [0, 1].map(() => ({ $ref: `#/$defs/a${level + 1}` })) },
    ]),
  );
  test.each<[string, object, object]>([
    ['a pattern that backtracks', { properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(50)}!` }],
    ['references that double', { $ref: '#/$defs/a0', $defs: { ...doubling, a30: {} } }, {}],
    ['inputs of many values', { additionalProperties: { type: 'string' } }, properties(40_000, () => ({}))],
  ])('inputs against %s', async (_, schema, inputs) => {
    const { publicId } = await makeTool({ url: tools.origin, inputSchema: { type: 'object', ...schema } });
    await expectFreeLoop(async () =>
      expect(await raw(`/http-tools/${publicId}/test`, JSON.stringify({ inputs }))).toBe(200),
    );
  });

  test('eight calls of a tool whose pattern backtracks, in one message', async () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const { publicId, name } = await makeTool({ url: tools.origin, inputSchema });
    await api('POST', `/agents/${agentId}/http-tools`, { httpToolPublicId: publicId });
    await api('POST', `/agents/${agentId}/publish`, {});
    const calls = Array.from({ length: 8 }, () => ({ name, arguments: JSON.stringify({ a: `${'a'.repeat(50)}!` }) }));
    let asked = 0;
    await expectFreeLoop(async () => {
      let isOver = false;
      const turn = turnWith(calls).finally(() => {
        isOver = true;
      });
      for (; !isOver; asked += 1) expect((await fetch(`${service.origin}/livez`)).status).toBe(200);
      await turn;
    });
    expect(asked).toBeGreaterThan(50);
  });
});

describe('answers of servers that a tenant chose', () => {
  const secret = `${'a'.repeat(4_000)}b`;
  test.each<[string, string, Record<string, string>]>([
    ['a megabyte like the secret', 'a'.repeat(MIB - 10), { one: secret, two: `${secret}c` }],
    ['empty arrays', `[${'[],'.repeat(300_000)}[]]`, {}],
    ['empty arrays, with a secret', `[${'[],'.repeat(16_000)}[]]`, { one: secret }],
    ['arrays in each other', '['.repeat(500_000) + ']'.repeat(500_000), {}],
    ['many fields', JSON.stringify(properties(45_000, () => ({}))), {}],
  ])('an HTTP tool: %s', async (_, body, secrets) => {
    tools.on('/hostile', answering(body));
    const names = Object.keys(secrets);
    const headers = Object.fromEntries(names.map((name) => [`x-${name}`, `{{secret.${name}}}`]));
    const { publicId } = await makeTool({
      url: `${tools.origin}/hostile`,
      headers,
      ...(names.length > 0 && { secrets }),
    });
    await expectFreeLoop(async () => expect(await raw(`/http-tools/${publicId}/test`, '{"inputs":{}}')).toBe(200));
  });

  test.each<[string, () => object[]]>([
    [
      'names of inputs that no model takes',
      () => [
        mcpTool('a', {
          inputSchema: {
            type: 'object',
            properties: Object.fromEntries(
              Array.from({ length: 20_000 }, (_, index) => [String.fromCodePoint(0x4e00 + index), {}]),
            ),
          },
        }),
      ],
    ],
    [
      '500 tools whose names become one',
      () => Array.from({ length: 500 }, (_, index) => mcpTool(String.fromCodePoint(0x4e00 + index))),
    ],
    [
      'a schema of 400 KB',
      () => [
        mcpTool('a', { inputSchema: { type: 'object', properties: properties(18_000, () => ({ type: 'array' })) } }),
      ],
    ],
  ])('an MCP server lists %s', async (_, list) => {
    listed = list();
    const publicId = await linkServer();
    await expectFreeLoop(async () => {
      await api('POST', `/external-mcps/${publicId}/discover`, {});
      await api('POST', `/agents/${agentId}/messages`, { content: 'Hello.' });
    });
    await removeServer(publicId);
    listed = [mcpTool('echo')];
  });

  test.each<[string, () => unknown]>([
    ['empty arrays', () => ({ content: [], structuredContent: { a: Array.from({ length: 600_000 }, () => []) } })],
    ['many parts', () => ({ content: Array.from({ length: 15_000 }, () => ({ type: 'text', text: 'x' })) })],
  ])('an MCP server answers with %s', async (_, result) => {
    mcpResult = result();
    const publicId = await linkServer();
    await expectFreeLoop(() => turnWith([{ name: 'echo', arguments: '{}' }]));
    await removeServer(publicId);
  });
});

describe('skills', () => {
  test.each<[string, string]>([
    ['brackets', '['.repeat(8_000) + ']'.repeat(8_000)],
    ['empty lists', `[${'[],'.repeat(5_000)}]`],
    ['anchors', `[${'&a a,'.repeat(3_200)}]`],
  ])('front matter of %s', async (_, metadata) => {
    await expectFreeLoop(async () => {
      const form = new FormData();
      form.set('file', new Blob([skillMd(`name: a\ndescription: b\nmetadata: ${metadata}`)]), 'SKILL.md');
      const answer = await fetch(`${service.origin}${API_PREFIX}/skills`, {
        method: 'POST',
        headers: { 'X-Api-Key': key },
        body: form,
      });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('INVALID_SKILL_ZIP')]);
    });
  });
});

describe('what models say', () => {
  beforeAll(async () => {
    for (const feature of ['message-splitting', 'long-term-memory', 'genui']) {
      await api('PATCH', `/agents/${agentId}/features/${feature}`, { enabled: true });
    }
    await api('POST', `/agents/${agentId}/publish`, {});
  });

  test.each<[string, string]>([
    ['brackets', '['.repeat(100_000)],
    ['links without end', '[a]('.repeat(25_000)],
    ['tables', '|a|\n|-|\n'.repeat(12_000)],
    ['rules', '---\n'.repeat(25_000)],
  ])('a reply of %s, which is split into messages', async (_, reply) => {
    await expectFreeLoop(async () => {
      server.script({ reply });
      await api('POST', `/agents/${agentId}/messages`, { content: 'Hello.' });
    });
  });

  test.each<[string, string, object]>([
    ['recall', 'punctuation', { query: `a${'!'.repeat(100_000)}a` }],
    ['recall', 'empty arrays', { query: Array.from({ length: 200_000 }, () => []) }],
    [
      'show_ui',
      'a tree that is wrong everywhere',
      { ui: { type: 'stack', children: Array.from({ length: 2_900 }, () => ({ type: 'text', x: 1 })) } },
    ],
    [
      'show_ui',
      'a chart that is wrong everywhere',
      { ui: { type: 'chart', kind: 'x', series: Array.from({ length: 7_000 }, () => ({})) } },
    ],
  ])('a call of %s with %s', async (name, _, input) => {
    await expectFreeLoop(() => turnWith([{ name, arguments: JSON.stringify(input) }]));
  });

  test('a call with arguments that nest deeply', async () => {
    await expectFreeLoop(() => turnWith([{ name: 'recall', arguments: '{"query":'.repeat(100_000) }]));
  });
});
