import type { Vector } from '../../../runtime/knowledge/embeddingCall.ts';
import { CallSizes } from '../../../runtime/knowledge/embeddingSizes.ts';
import { embedPassages, embedQuery, signsOf } from '../../../runtime/knowledge/embeddings.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { modelSettingsFromEnv } from '../../../runtime/models/settings.ts';
import { type EmbeddingServer, startEmbeddingServer, vectorOf } from '../../support/servers/embeddingServer.ts';
import { rejection } from '../models/support.ts';

let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer();
});
afterEach(() => server.close());

/** The vectors of all texts. */
async function embedTexts(
  settings: ModelSettings,
  texts: readonly string[],
  options: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<(Vector | null)[]> {
  const vectors: (Vector | null)[] = [];
  for await (const some of embedPassages(settings, texts, { workspaceId: 'one', ...options })) vectors.push(...some);
  return vectors;
}

const unit = (vector: readonly number[]) => vector.map((value) => value / Math.hypot(...vector));
const close = (vector: readonly number[] | null = []) => vector?.map((value) => expect.closeTo(value, 6));

describe('a provider is asked in its own format', () => {
  test.each([
    ['openai', 'text-embedding-3-small', '/v1/embeddings', 'authorization', 'Bearer sk-proj-test0123456789abcdef'],
    ['openai-compatible', 'nomic/embed:v1', '/v1/embeddings', 'authorization', undefined],
    [
      'google',
      'gemini-embedding-001',
      '/v1beta/models/gemini-embedding-001:batchEmbedContents',
      'x-goog-api-key',
      'AIzaTest0123456789abcdefghijklmnop',
    ],
  ] as const)('%s', async (provider, modelId, path, header, key) => {
    const settings = server.settings({ embeddings: { provider, modelId } });
    const vectors = await embedTexts(settings, ['a cat', 'two dogs']);
    expect(vectors).toEqual([unit(vectorOf('a cat', 64, [])), unit(vectorOf('two dogs', 64, []))].map(close));
    expect(server.requests).toMatchObject([{ path, model: modelId, texts: ['a cat', 'two dogs'] }]);
    expect(server.requests[0]?.headers[header]).toBe(key);
    expect(await embedQuery(settings, 'a cat')).toEqual(close(vectors[0]));
  });

  test.each(['openai', 'openai-compatible'] as const)(
    'each text gets its own vector from %s, in whatever order and form they come',
    async (provider) => {
      server.script('disordered', 'base64');
      const settings = server.settings({ embeddings: { provider, modelId: 'bge-m3' } });
      const texts = ['a cat', 'two dogs', 'three birds'];
      const vectors = texts.map((text) => close(unit(vectorOf(text, 64, []))));
      expect(await embedTexts(settings, texts)).toEqual(vectors);
      expect(await embedTexts(settings, texts)).toEqual(vectors);
    },
  );
});

describe('many texts', () => {
  test('go in calls that a provider takes, few at once, and come back in their order', async () => {
    const texts = Array.from({ length: 500 }, (_, index) => `text ${index}`);
    const vectors = await embedTexts(server.settings(), texts);
    expect(vectors).toHaveLength(500);
    for (const index of [0, 95, 96, 250, 499])
      expect(vectors[index]).toEqual(close(unit(vectorOf(`text ${index}`, 64, []))));
    expect(server.requests).toHaveLength(6);
    for (const { texts: sent } of server.requests) expect(sent.length).toBeLessThanOrEqual(96);
    expect(server.mostAtOnce).toBeLessThanOrEqual(3);
  });

  test('of which some are long go in smaller calls, cut to what a provider reads', async () => {
    await embedTexts(
      server.settings(),
      Array.from({ length: 40 }, () => 'word '.repeat(10_000)),
    );
    for (const { texts } of server.requests) {
      expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(150_000);
      for (const text of texts) expect(text.length).toBeLessThanOrEqual(8_000);
    }
    expect(server.requests.length).toBeGreaterThan(1);
  });

  test('no texts make no call, and a blank text is replaced', async () => {
    expect(await embedTexts(server.settings(), [])).toEqual([]);
    expect(server.requests).toEqual([]);
    await embedTexts(server.settings(), ['', ' \n', '\ud800']);
    expect(server.requests[0]?.texts).toEqual(['-', '-', '\ufffd']);
  });

  test('are aborted when one call fails for good', async () => {
    server.fallback = { status: 400 };
    const texts = Array.from({ length: 96 * 20 }, () => 'a');
    expect(await rejection(embedTexts(server.settings(), texts))).toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
    expect(server.requests.length).toBeLessThanOrEqual(6);
  });
});

describe('failures', () => {
  test('that are transient are retried', async () => {
    server.script({ status: 503 }, 'hang-up', 'vectors');
    const settings = server.settings({ retries: 2 });
    expect(await embedTexts(settings, ['a'])).toHaveLength(1);
    expect(server.requests).toHaveLength(3);
  });

  test('that last become one sentence for people, without key and text', async () => {
    server.script({
      status: 401,
      message: 'Incorrect API key provided: sk-proj-test0123456789abcdef. It said: the secret recipe.',
    });
    const wrong = await rejection(embedTexts(server.settings(), ['the secret recipe']));
    expect(wrong).toMatchObject({
      code: 'MODEL_PROVIDER_ERROR',
      message: 'OpenAI refused the API key (401). Check OPENAI_API_KEY.',
    });
    server.fallback = {
      status: 400,
      message: 'Bad input sk-proj-test0123456789abcdef near: the secret recipe of the house.',
    };
    const bad = await rejection(embedTexts(server.settings(), ['the secret recipe of the house']));
    expect(bad.message).toMatch(/^OpenAI rejected the request \(400\)/);
    expect(JSON.stringify([bad.message, bad.stack, bad.cause])).not.toMatch(/sk-proj|secret recipe/);
  });

  test.each(['too-few', 'zeros'] as const)('an answer that makes no sense is one: %s', async (step) => {
    server.fallback = step;
    expect(await rejection(embedTexts(server.settings(), ['a', 'b']))).toMatchObject({
      code: 'MODEL_PROVIDER_ERROR',
      message: expect.stringContaining('cannot be understood'),
    });
  });

  test('vectors of different lengths are a failure', async () => {
    const answers = embedTexts(
      server.settings(),
      Array.from({ length: 300 }, () => 'a'),
    );
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    server.dimensions = 32;
    expect(await rejection(answers)).toMatchObject({ message: expect.stringContaining('cannot be understood') });
  });

  test('an answer that is far larger than vectors is not read to its end', async () => {
    server.fallback = 'padded';
    for (const provider of ['openai', 'google', 'openai-compatible'] as const) {
      const settings = server.settings({ embeddings: { provider, modelId: 'bge-m3' } });
      expect(await rejection(embedQuery(settings, 'a'))).toMatchObject({
        message: expect.stringContaining('cannot be understood'),
      });
    }
  });

  test('a gateway that gives up is not asked the same again, but for less', async () => {
    server.decide = ({ length }) => (length > 48 ? { status: 504 } : 'vectors');
    await embedTexts(
      server.settings({ retries: 2 }),
      Array.from({ length: 96 }, (_, index) => `text ${index}`),
    );
    expect(server.requests.map(({ texts }) => texts.length)).toEqual([96, 48, 48]);
  });

  test('a query has a short timeout', async () => {
    server.script('silence');
    const began = performance.now();
    expect(await rejection(embedQuery(server.settings({ retries: 5 }), 'a'))).toMatchObject({
      code: 'MODEL_PROVIDER_ERROR',
    });
    expect(performance.now() - began).toBeLessThan(40_000);
    expect(server.requests).toHaveLength(1);
  });

  test('a signal ends the calls with its own reason', async () => {
    server.fallback = 'silence';
    const controller = new AbortController();
    const answer = rejection(embedTexts(server.settings(), ['a'], { signal: controller.signal }));
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error('The service stops.');
    controller.abort(reason);
    expect(await answer).toBe(reason);
    expect(await rejection(embedTexts(server.settings(), ['a'], { signal: controller.signal }))).toBe(reason);
  });
});

describe('a compatible server', () => {
  const compatible = { embeddings: { provider: 'openai-compatible', modelId: 'bge-m3' } } as const;
  const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`);

  test('is asked one call at a time, by all callers of the process, in turns by workspace', async () => {
    const settings = server.settings(compatible);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    server.decide = async () => {
      await gate;
      return 'vectors' as const;
    };
    const all = async (workspaceId: string, texts: string[]) => {
      for await (const _ of embedPassages(settings, texts, { workspaceId }));
    };
    const work = [all('one', texts(96)), all('one', texts(96)), all('two', ['the other'])];
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    open();
    await Promise.all(work);
    expect(server.mostAtOnce).toBe(1);
    // Of seven calls: the first had begun, and the place goes around.
    expect(server.requests.findIndex(({ texts }) => texts[0] === 'the other')).toBeLessThanOrEqual(2);
  });

  test('that is too slow is asked for half as much, which later calls remember', async () => {
    const settings = server.settings(compatible);
    server.decide = ({ length }) => (length > 8 ? 'silence' : 'vectors');
    const vectors = await embedTexts(settings, texts(40), { timeoutMs: 1_000 });
    expect(vectors[39]).toEqual(close(unit(vectorOf('text 39', 64, []))));
    expect(server.requests.map(({ texts }) => texts.length)).toEqual([32, 16, 8, 8, 16, 8, 8, 8]);
    server.requests.length = 0;
    await embedTexts(settings, texts(16), { timeoutMs: 1_000 });
    expect(server.requests.map(({ texts }) => texts.length)).toEqual([8, 8]);
  });

  test('that never answers is asked for less and less, and then fails', async () => {
    server.fallback = 'silence';
    const answer = await rejection(embedTexts(server.settings(compatible), texts(32), { timeoutMs: 400 }));
    expect(answer).toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
    expect(server.requests.map(({ texts }) => texts.length)).toEqual([32, 16, 8, 4, 2, 1]);
  });

  test.each([{ status: 413 }, { status: 422 }, 'half', 'nan', 'null'] as const)(
    'that takes fewer texts at a time (%j) gets fewer',
    async (step) => {
      server.decide = ({ length }) => (length > 16 ? step : 'vectors');
      const settings = server.settings(compatible);
      const vectors = await embedTexts(settings, texts(64));
      for (const index of [0, 31, 63]) expect(vectors[index]).toEqual(close(unit(vectorOf(`text ${index}`, 64, []))));
      // One call finds out whether the server takes anything.
      expect(server.requests.map(({ texts }) => texts.length)).toEqual([32, 1, 16, 16, 16, 16]);
    },
  );

  test('with a short window gets long texts cut, and keeps the others whole', async () => {
    const long = 'word '.repeat(300).trim();
    server.decide = (sent) => (sent.some(({ length }) => length > 1_000) ? { status: 400 } : 'vectors');
    const vectors = await embedTexts(server.settings(compatible), ['short', long, 'last']);
    expect(vectors.map((vector) => vector === null)).toEqual([false, false, false]);
    expect(server.requests.at(-1)?.texts).toEqual(['last']);
    const lengths = server.requests.flatMap(({ texts }) => texts.map(({ length }) => length));
    expect(lengths.filter((length) => length > 700 && length <= 1_000)).toHaveLength(1);
  });

  test('with a short window gets as much of a text as it takes in every script, and longer ones again after many calls', async () => {
    const settings = server.settings(compatible);
    server.decide = (sent) => (sent.some((text) => Buffer.byteLength(text) > 1_500) ? { status: 400 } : 'vectors');
    await embedTexts(settings, ['漢字'.repeat(400)]);
    expect(server.requests.at(-1)?.texts[0]?.length).toBe(450);
    const english = 'word '.repeat(240).trim();
    await embedTexts(settings, [english]);
    expect(server.requests.at(-1)?.texts).toEqual([english]);
    const sizes = CallSizes.of(settings);
    for (let call = 0; call < 64; call += 1) sizes.took(1, 10);
    expect(sizes.bytes).toBe(2_700);
  });

  test('that refuses one text among others gives vectors of the others', async () => {
    server.decide = (sent) => (sent.includes('text 5') ? { status: 500 } : 'vectors');
    const vectors = await embedTexts(server.settings(compatible), texts(12));
    expect(vectors.flatMap((vector, index) => (vector === null ? [index] : []))).toEqual([5]);
  });

  test('that refuses everything fails after few calls', async () => {
    server.fallback = 'nan';
    expect(await rejection(embedTexts(server.settings(compatible), texts(500)))).toMatchObject({
      code: 'MODEL_PROVIDER_ERROR',
    });
    expect(server.requests).toHaveLength(2);
  });
});

test('signs are one bit a dimension', () => {
  expect(signsOf([0.5, -0.5, 0, 1e-9])).toBe('1001');
});

describe('GUILDHALL_EMBEDDING_MODEL', () => {
  const providers = {
    OPENAI_API_KEY: 'k',
    GOOGLE_GENERATIVE_AI_API_KEY: 'k',
    OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1',
  };
  test.each([
    ['openai/text-embedding-3-small', { provider: 'openai', modelId: 'text-embedding-3-small' }],
    ['google/gemini-embedding-001', { provider: 'google', modelId: 'gemini-embedding-001' }],
    ['openai-compatible/BAAI/bge-m3:latest', { provider: 'openai-compatible', modelId: 'BAAI/bge-m3:latest' }],
  ])('%s', (name, embeddings) => {
    expect(modelSettingsFromEnv({ ...providers, GUILDHALL_EMBEDDING_MODEL: name }).embeddings).toEqual(embeddings);
  });

  test('what stands before a text can be said, or be nothing', () => {
    const env = { ...providers, GUILDHALL_EMBEDDING_MODEL: 'openai-compatible/intfloat/multilingual-e5-base' };
    const said = { GUILDHALL_EMBEDDING_QUERY_PREFIX: 'Ask:\\n', GUILDHALL_EMBEDDING_PASSAGE_PREFIX: 'none' };
    expect(modelSettingsFromEnv({ ...env, ...said }).embeddings).toMatchObject({
      queryPrefix: 'Ask:\n',
      passagePrefix: '',
    });
    const blank = { GUILDHALL_EMBEDDING_QUERY_PREFIX: ' ', GUILDHALL_EMBEDDING_PASSAGE_PREFIX: '' };
    expect(Object.keys(modelSettingsFromEnv({ ...env, ...blank }).embeddings ?? {})).toEqual(['provider', 'modelId']);
    const long = { GUILDHALL_EMBEDDING_PASSAGE_PREFIX: 'x'.repeat(61) };
    expect(() => modelSettingsFromEnv({ ...env, ...long })).toThrow('at most 60 characters');
  });

  test('absent or blank, there are no vectors', () => {
    expect(modelSettingsFromEnv(providers)).not.toHaveProperty('embeddings');
    expect(modelSettingsFromEnv({ ...providers, GUILDHALL_EMBEDDING_MODEL: ' ' })).not.toHaveProperty('embeddings');
  });

  test.each(['text-embedding-3-small', 'anthropic/claude', 'openai/', 'openai/two words'])('%s is refused', (name) => {
    expect(() => modelSettingsFromEnv({ ...providers, GUILDHALL_EMBEDDING_MODEL: name })).toThrow(
      /^GUILDHALL_EMBEDDING_MODEL must be openai\/<model>/,
    );
  });

  test('a provider without a key is refused', () => {
    expect(() => modelSettingsFromEnv({ GUILDHALL_EMBEDDING_MODEL: 'openai/text-embedding-3-small' })).toThrow(
      'GUILDHALL_EMBEDDING_MODEL names a model of openai, and that provider is not configured.',
    );
  });
});
