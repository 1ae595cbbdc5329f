import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listGlobalModels } from '../../../runtime/models/catalogue.ts';
import { readServerWindows, watchServerWindows } from '../../../runtime/models/serverWindows.ts';
import { modelSettingsFromEnv } from '../../../runtime/models/settings.ts';
import { poll } from '../../support/poll.ts';

type Answer = unknown | ((request: IncomingMessage, response: ServerResponse) => void);

let server: Server;
let answers: Record<string, Answer>;
let asked: { path: string; key: string | undefined }[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push({ path, key: request.headers.authorization });
    const answer = answers[path];
    if (typeof answer === 'function') answer(request, response);
    else if (answer === undefined) response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  answers = {};
  asked = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const settingsOf = (models: string, more = {}) =>
  modelSettingsFromEnv({
    OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    OPENAI_COMPATIBLE_MODELS: models,
    ...more,
  });
const windows = (settings: ReturnType<typeof settingsOf>) =>
  Object.fromEntries(
    listGlobalModels(settings)
      .filter(({ provider }) => provider === 'openai-compatible')
      .map(({ modelId, contextWindow }) => [modelId, contextWindow]),
  );
const list = (...data: object[]) => ({ object: 'list', data });

describe('the window of a model', () => {
  test.each([
    ['vLLM', { id: 'm', max_model_len: 24_576 }, 24_576],
    ['OpenRouter', { id: 'm', context_length: 16_384, top_provider: { context_length: 16_384 } }, 16_384],
    ['Groq', { id: 'm', context_window: 8_192 }, 8_192],
    ['Mistral', { id: 'm', max_context_length: 32_768 }, 32_768],
    ['llama.cpp', { id: 'm', meta: { n_ctx: 4_096, n_ctx_train: 131_072 } }, 4_096],
    ['llama.cpp before it told what is loaded', { id: 'm', meta: { n_ctx_train: 131_072 } }, 131_072],
  ])('is read from the list of %s', async (_who, entry, expected) => {
    answers['/v1/models'] = list({ id: 'other', max_model_len: 1_000 }, entry);
    const settings = settingsOf('m', { OPENAI_COMPATIBLE_API_KEY: 'k1' });
    expect(windows(settings)).toEqual({ m: 128_000 });
    await readServerWindows(settings);
    expect(windows(settings)).toEqual({ m: expected });
    expect(asked).toEqual([{ path: '/v1/models', key: 'Bearer k1' }]);
  });

  test.each([
    ['Together, whose list is bare', '/v1/models', [{ id: 'm', context_length: 16_384 }], 16_384],
    [
      'LM Studio',
      '/api/v0/models',
      list({ id: 'm', loaded_context_length: 8_192, max_context_length: 131_072 }),
      8_192,
    ],
    ['Ollama, of a model that is loaded', '/api/ps', { models: [{ name: 'm:latest', context_length: 4_096 }] }, 4_096],
    [
      'Ollama, of a Modelfile',
      '/api/show',
      { parameters: 'temperature 1\nnum_ctx                        16384' },
      16_384,
    ],
    ['llama.cpp', '/props', { default_generation_settings: { n_ctx: 2_048 } }, 2_048],
    ['TGI', '/info', { model_id: 'm', max_total_tokens: 4_096 }, 4_096],
  ])('is read from %s', async (_who, path, answer, expected) => {
    answers['/v1/models'] = list({ id: 'm', object: 'model' });
    answers[path] = answer;
    const settings = settingsOf('m');
    await readServerWindows(settings);
    expect(windows(settings)).toEqual({ m: expected });
  });

  test('that was set wins, and its server is not asked', async () => {
    answers['/v1/models'] = list({ id: 'm', max_model_len: 24_576 });
    const settings = settingsOf('m@32768');
    await readServerWindows(settings);
    expect(windows(settings)).toEqual({ m: 32_768 });
    expect(asked).toEqual([]);
  });

  test('stays when the server does not tell it any more, and changes when it tells another', async () => {
    answers['/v1/models'] = list({ id: 'm', max_model_len: 24_576 });
    const settings = settingsOf('m');
    const stop = watchServerWindows(settings, 1);
    await poll(() => windows(settings).m === 24_576, Boolean);
    answers['/v1/models'] = (_request: IncomingMessage, response: ServerResponse) => void response.destroy();
    const before = asked.length;
    await poll(() => asked.length > before + 1, Boolean);
    expect(windows(settings)).toEqual({ m: 24_576 });
    answers['/v1/models'] = list({ id: 'm', max_model_len: 16_384 });
    await poll(() => windows(settings).m === 16_384, Boolean);
    stop();
  });
});

describe('a server that tells nonsense', () => {
  test.each([-1, 0, 1e99, 1.5, '24576', null, {}, [24_576]])('a window of %p counts as none', async (value) => {
    answers['/v1/models'] = list({ id: 'm', max_model_len: value, context_length: value, meta: { n_ctx: value } });
    const settings = settingsOf('m');
    await readServerWindows(settings);
    expect(windows(settings)).toEqual({ m: 128_000 });
  });

  test.each([
    ['no object', 5],
    ['entries that are none', list(null as never, 5 as never, { id: 5, max_model_len: 5_000 })],
    [
      'JSON that ends in the middle',
      (_: unknown, response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":['),
    ],
    [
      'a web page',
      (_: unknown, response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['a failure', (_: unknown, response: ServerResponse) => response.writeHead(500).end()],
  ])('%s', async (_what, answer) => {
    answers['/v1/models'] = answer;
    const settings = settingsOf('m');
    await readServerWindows(settings);
    expect(windows(settings)).toEqual({ m: 128_000 });
  });

  test('a list of 100 MB is not read to its end', async () => {
    let sent = 0;
    answers['/v1/models'] = (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = `[${' '.repeat(1_000_000)}`;
      const write = () => {
        while (sent < 100 && !response.destroyed) {
          sent += 1;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    };
    const settings = settingsOf('m');
    await readServerWindows(settings);
    expect(windows(settings)).toEqual({ m: 128_000 });
    expect(sent).toBeLessThan(50);
  });

  test('one that never answers is left alone when the watch ends', async () => {
    const closed = new Promise((resolve) => {
      answers['/v1/models'] = (request: IncomingMessage) => void request.socket.once('close', resolve);
    });
    const stop = watchServerWindows(settingsOf('m'));
    await poll(() => asked.length === 1, Boolean);
    const stopped = performance.now();
    stop();
    await closed;
    // Milliseconds; the time limit of the request alone would be ten seconds.
    expect(performance.now() - stopped).toBeLessThan(5_000);
  });
});

describe('the setting', () => {
  const read = (list: string) =>
    modelSettingsFromEnv({ OPENAI_COMPATIBLE_BASE_URL: 'http://h/v1', OPENAI_COMPATIBLE_MODELS: list })
      .openaiCompatible;

  test('has a window after the last @, if it is digits alone', () => {
    expect(read('a@24576, b@2024-01 ,c@2024-01@8192,d@e, f, a')).toEqual({
      baseUrl: 'http://h/v1',
      models: ['a', 'b@2024-01', 'c@2024-01', 'd@e', 'f'],
      windows: new Map([
        ['a', 24_576],
        ['c@2024-01', 8_192],
      ]),
    });
  });

  test.each(['a@0', 'a@255', 'a@99999999999'])('%s is refused at the start', (list) => {
    expect(() => read(list)).toThrow(
      /^OPENAI_COMPATIBLE_MODELS gives a a context window of \d+ tokens: it must be from 256 to 100000000\.$/,
    );
  });
});
