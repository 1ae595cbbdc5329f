import { callModel, type ModelCall } from '../../../runtime/models/call.ts';
import type { ModelProvider } from '../../../runtime/models/catalogue.ts';
import { ask, modelOf, useModelServer } from './support.ts';

const here = useModelServer();

/** The body that a provider gets for a call. */
async function sent(
  provider: ModelProvider,
  modelId: string,
  more: Partial<ModelCall>,
): Promise<Record<string, unknown>> {
  await callModel(here.settings, ask(modelOf(here.settings, provider, modelId), more));
  return here.server.requests.at(-1)?.body ?? {};
}

const think = (effort?: 'low' | 'medium' | 'high') => ({ thinking: { enabled: true, effort } });

describe('thinking', () => {
  test('OpenAI gets the effort; medium when none was chosen', async () => {
    expect((await sent('openai', 'gpt-6-sol', think('high'))).reasoning).toMatchObject({ effort: 'high' });
    expect((await sent('openai', 'gpt-6-sol', think())).reasoning).toMatchObject({ effort: 'medium' });
  });

  test('off is said as "none" to OpenAI models that know it, as "minimal" to GPT-5, and left out where neither exists', async () => {
    expect((await sent('openai', 'gpt-6-sol', {})).reasoning).toMatchObject({ effort: 'none' });
    expect((await sent('openai', 'gpt-5', { thinking: { enabled: false } })).reasoning).toMatchObject({
      effort: 'minimal',
    });
    expect((await sent('openai', 'gpt-6-astra', {})).reasoning).toBeUndefined();
  });

  test('a model that cannot think gets no thinking option', async () => {
    expect((await sent('openai', 'gpt-4.1', think('high'))).reasoning).toBeUndefined();
    expect((await sent('openai-compatible', 'local-model', think('high'))).reasoning_effort).toBeUndefined();
  });

  test('Anthropic gets adaptive thinking with an effort, or a budget within the output limit for older models', async () => {
    const adaptive = await sent('anthropic', 'claude-opus-5', think('low'));
    expect(adaptive).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } });
    const older = await sent('anthropic', 'claude-haiku-4-5', think('low'));
    const { type, budget_tokens: budget } = older.thinking as { type: string; budget_tokens: number };
    expect(type).toBe('enabled');
    expect(budget).toBeGreaterThanOrEqual(1_024);
    expect(budget).toBeLessThan(Number(older.max_tokens));
  });

  test('thinking is switched off for Anthropic models that can', async () => {
    expect((await sent('anthropic', 'claude-opus-5', {})).thinking).toEqual({ type: 'disabled' });
    expect((await sent('anthropic', 'claude-opus-5-5', {})).thinking).toBeUndefined();
  });

  test('Google gets a level, or a budget for Gemini 2.5, where 0 turns it off', async () => {
    const config = (body: Record<string, unknown>) =>
      (body.generationConfig as { thinkingConfig?: Record<string, unknown> }).thinkingConfig;
    expect(config(await sent('google', 'gemini-3.8-flash', think('high')))).toMatchObject({ thinkingLevel: 'high' });
    expect(config(await sent('google', 'gemini-2.5-flash', think('low')))?.thinkingBudget).toBeGreaterThan(0);
    expect(config(await sent('google', 'gemini-2.5-flash', {}))).toMatchObject({ thinkingBudget: 0 });
    expect(config(await sent('google', 'gemini-4-argon', {}))).toBeUndefined();
  });
});

describe('temperature', () => {
  test('reaches models that take one', async () => {
    expect((await sent('openai', 'gpt-4.1', { temperature: 1.5 })).temperature).toBe(1.5);
    expect((await sent('openai', 'gpt-6-sol', { temperature: 0 })).temperature).toBe(0);
    expect((await sent('anthropic', 'claude-haiku-4-5', { temperature: 0.3 })).temperature).toBe(0.3);
    expect((await sent('openai-compatible', 'local-model', { temperature: 0.7 })).temperature).toBe(0.7);
    expect((await sent('google', 'gemini-3.8-flash', { temperature: 2 })).generationConfig).toMatchObject({
      temperature: 2,
    });
  });

  test('is held within the range of the model', async () => {
    expect((await sent('anthropic', 'claude-haiku-4-5', { temperature: 1.7 })).temperature).toBe(1);
  });

  test('never reaches models that take none', async () => {
    expect(await sent('openai', 'gpt-5', { temperature: 1 })).not.toHaveProperty('temperature');
    expect(await sent('anthropic', 'claude-opus-5-5', { temperature: 1 })).not.toHaveProperty('temperature');
  });

  test('is left out while OpenAI and Anthropic models think, and kept for Google', async () => {
    const both = { temperature: 0.5, ...think('low') };
    expect(await sent('openai', 'gpt-6-sol', both)).not.toHaveProperty('temperature');
    expect(await sent('anthropic', 'claude-haiku-4-5', both)).not.toHaveProperty('temperature');
    expect((await sent('google', 'gemini-3.8-flash', both)).generationConfig).toMatchObject({ temperature: 0.5 });
  });
});
