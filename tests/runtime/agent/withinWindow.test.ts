import { withinWindow } from '../../../runtime/agent/withinWindow.ts';
import type { ModelDescriptor } from '../../../runtime/models/catalogue.ts';
import { ContextTooLong } from '../../../runtime/models/contextLength.ts';
import { withLearntWindow } from '../../../runtime/models/learntWindows.ts';
import type { ModelMessage } from '../../../runtime/models/prompt.ts';

const ASSUMED = 128_000;
const model = { provider: 'openai-compatible', modelId: 'local-model', contextWindow: ASSUMED } as ModelDescriptor;

/** Asks a model of whose window its server says `told`, with messages that fill whatever they are fitted to. */
async function asked(window: number, { told, least = 0 }: { told: number | undefined; least?: number }) {
  const now = new Date();
  const models = { retries: 0 };
  const tried: number[] = [];
  const run = { model, scope: { runtime: { models, clock: { now: () => now } }, workspaceId: 'a', logger: undefined } };
  const fitTo = (tokens: number): ModelMessage[] => [{ role: 'user', content: 'x'.repeat(Math.max(tokens, least)) }];
  const ask = async ([message]: readonly ModelMessage[]) => {
    const { length } = String(message?.content);
    tried.push(length);
    if (length > window)
      throw new ContextTooLong('Too long.', { ...(told !== undefined && { limit: told }), isCertain: true });
    return 'answered';
  };
  const answer = await withinWindow(run as unknown as Parameters<typeof withinWindow>[0], ASSUMED, { fitTo, ask }).then(
    ({ answer, tokens }) => [answer, tokens],
    (error: Error) => error.message,
  );
  const later = (hours: number) =>
    withLearntWindow({ models, workspaceId: 'a', now: new Date(now.getTime() + hours * 3_600_000) }, model)
      .contextWindow;
  return { answer, tried, learnt: later(0), afterAnHour: later(1) };
}

test('a request that is too long is cut to the limit that the provider names, at once', async () => {
  expect(await asked(100_000, { told: 100_000 })).toEqual({
    answer: ['answered', 100_000],
    tried: [ASSUMED, 100_000],
    learnt: 100_000,
    afterAnHour: ASSUMED,
  });
});

test('it is cut to half, and to half again, where the provider names none, or one that is no smaller', async () => {
  for (const told of [undefined, ASSUMED, 200_000]) {
    const { tried, answer } = await asked(24_576, { told });
    expect([answer, tried]).toEqual([
      ['answered', 16_000],
      [128_000, 64_000, 32_000, 16_000],
    ]);
  }
});

test('it is made five times at most, and nothing is learnt without an answer', async () => {
  const { answer, tried, learnt } = await asked(100, { told: undefined });
  expect([answer, tried.length, learnt]).toEqual(['Too long.', 5, ASSUMED]);
});

test('it is not made again when nothing can be left out', async () => {
  expect(await asked(24_576, { told: 24_576, least: ASSUMED })).toMatchObject({
    answer: 'Too long.',
    tried: [ASSUMED],
    learnt: ASSUMED,
  });
});
