import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { globalModelId } from '../../../runtime/models/catalogue.ts';
import { modelSettingsFromEnv } from '../../../runtime/models/settings.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';
import { admin, adminJson } from '../../support/scripts/admin.ts';

let server: Server;
let app: TestApp;
let env: Record<string, string>;

beforeAll(async () => {
  server = createServer((request, response) => {
    const isList = request.url === '/v1/models';
    response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' });
    response.end(isList ? JSON.stringify({ object: 'list', data: [{ id: 'told', max_model_len: 24_576 }] }) : '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  env = {
    OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    OPENAI_COMPATIBLE_MODELS: 'told,set@8192,gpt-5.4,unknown',
  };
  app = await startTestApp({ models: modelSettingsFromEnv(env) });
});
afterAll(async () => {
  await app.close();
  server.closeAllConnections();
  server.close();
});

test('the list of models shows the windows that were set and those that the server tells', async () => {
  const windows = async () => {
    const { body } = await app.api('get', '/ai-models').expect(200);
    const models = body as { publicId: string; contextWindow: number }[];
    return ['told', 'set', 'unknown'].map(
      (id) => models.find((model) => model.publicId === globalModelId('openai-compatible', id))?.contextWindow,
    );
  };
  expect(await poll(windows, ([told]) => told === 24_576)).toEqual([24_576, 8_192, 128_000]);
});

test('the command line says where each window is from', async () => {
  const found = await adminJson({ env: { ...app.env, ...env } }, 'model', 'windows');
  expect(
    found.map(({ modelId, contextWindow, source }: Record<string, unknown>) => [modelId, contextWindow, source]),
  ).toEqual([
    ['told', 24_576, 'server'],
    ['set', 8_192, 'setting'],
    ['gpt-5.4', expect.any(Number), 'model of this name'],
    ['unknown', 128_000, 'assumed'],
  ]);
  const { stdout } = await admin({ env: { ...app.env, ...env } }, 'model', 'windows');
  expect(stdout).toMatch(/^MODEL +MODEL ID +WINDOW +FROM\n/);
  expect(stdout).toMatch(/unknown +128000 +nowhere: assumed/);
});

test.each([
  [{}, /^none: set OPENAI_COMPATIBLE_BASE_URL .* and OPENAI_COMPATIBLE_MODELS /],
  [{ OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' }, /^none: set OPENAI_COMPATIBLE_MODELS to the ids/],
])('the command line names the setting that is missing: %j', async (given, expected) => {
  const { stdout } = await admin({ env: { ...app.env, ...given } }, 'model', 'windows');
  expect(stdout).toMatch(expected);
});

test('a setting that is not valid is one sentence, without a stack trace', async () => {
  const given = { ...env, OPENAI_COMPATIBLE_MODELS: 'qwen3@12' };
  const { code, stderr } = await admin({ env: { ...app.env, ...given } }, 'model', 'windows');
  expect(stderr).toMatch(/^error: OPENAI_COMPATIBLE_MODELS gives qwen3 a context window of 12 tokens: [^\n]+\n$/);
  expect(code).toBe(1);
});
