import { CallSizes } from '../../../runtime/knowledge/embeddingSizes.ts';
import { embedPassages } from '../../../runtime/knowledge/embeddings.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../../support/servers/embeddingServer.ts';

describe('the size of calls', () => {
  test('halves after a call that was slow, and grows again after eight quick ones, to where it began', () => {
    const sizes = new CallSizes(32);
    sizes.took(32, 2_001);
    expect(sizes.texts).toBe(16);
    sizes.took(16, 6_000);
    expect(sizes.texts).toBe(8);
    for (let call = 1; call < 8; call += 1) sizes.took(8, 200);
    expect(sizes.texts).toBe(8);
    sizes.took(8, 200);
    expect(sizes.texts).toBe(16);
    // One that is neither slow nor quick begins the count anew.
    for (let call = 1; call < 8; call += 1) sizes.took(16, 200);
    sizes.took(16, 1_500);
    sizes.took(16, 200);
    expect(sizes.texts).toBe(16);
    for (let call = 0; call < 40; call += 1) sizes.took(sizes.texts, 200);
    expect(sizes.texts).toBe(32);
  });

  test('stays at a server whose calls are as slow with fewer texts, and is tried again after eight', () => {
    const sizes = new CallSizes(32);
    const asked = Array.from({ length: 30 }, () => {
      const { texts } = sizes;
      sizes.took(texts, 3_000);
      return texts;
    });
    expect(asked.filter((texts) => texts === 32)).toHaveLength(27);
    expect(new Set(asked)).toEqual(new Set([32, 16]));
    // Half of the time is a help, and so is less after a time-out.
    sizes.shrink(32);
    for (const [texts, ms] of [
      [16, 8_000],
      [8, 4_000],
      [4, 2_100],
    ] as const) {
      expect(sizes.texts).toBe(texts);
      sizes.took(texts, ms);
    }
    expect(sizes.texts).toBe(2);
  });

  test('does not grow by calls that had fewer texts, and is one at least', () => {
    const sizes = new CallSizes(32);
    sizes.shrink(32);
    for (let call = 0; call < 20; call += 1) sizes.took(3, 10);
    expect(sizes.texts).toBe(16);
    for (let call = 0; call < 10; call += 1) sizes.shrink(1);
    expect(sizes.texts).toBe(1);
  });
});

describe('while a call is under way', () => {
  let server: EmbeddingServer;
  beforeAll(async () => {
    server = await startEmbeddingServer();
  });
  afterAll(() => server.close());

  /** How many calls arrive before the first one is answered, of three callers with work for several calls each. */
  async function calledBeforeAnswer(provider: 'openai' | 'openai-compatible'): Promise<number> {
    server.requests.length = 0;
    const settings = server.settings({ embeddings: { provider, modelId: 'bge-m3' } });
    const { promise: gate, resolve: open } = Promise.withResolvers<'vectors'>();
    server.decide = (texts) => (texts[0] === 'fence' ? 'vectors' : gate);
    const calls = () => server.requests.filter(({ texts }) => texts[0] !== 'fence').length;
    const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
    const work = ['one', 'one', 'two'].map(async (workspaceId) => {
      for await (const _ of embedPassages(settings, texts, { workspaceId }));
    });
    while (calls() === 0) await new Promise((resolve) => setImmediate(resolve));
    // What was called at the same time has arrived when as many requests in a row were answered.
    for (let round = 0; round < 20; round += 1) {
      const body = JSON.stringify({ model: 'fence', input: ['fence'] });
      await (await fetch(`${server.url}/v1/embeddings`, { method: 'POST', body })).text();
    }
    const count = calls();
    open('vectors');
    await Promise.all(work);
    return count;
  }

  test('a compatible server gets no other, whoever calls', async () => {
    expect(await calledBeforeAnswer('openai-compatible')).toBe(1);
  });

  test('a provider of many gets others', async () => {
    expect(await calledBeforeAnswer('openai')).toBeGreaterThan(1);
  });
});
