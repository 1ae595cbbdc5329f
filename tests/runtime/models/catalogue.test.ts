import { isUuid } from '../../../core/ids.ts';
import { BUILTIN_MODEL, findGlobalModel, globalModelId, listGlobalModels } from '../../../runtime/models/catalogue.ts';
import { costUsd } from '../../../runtime/models/cost.ts';
import { customModel } from '../../../runtime/models/customModel.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { modelOf } from './support.ts';

const bare: ModelSettings = { retries: 0 };
const NOW = new Date('2026-11-21T12:00:00Z');

describe('listGlobalModels', () => {
  const list = listGlobalModels(bare, NOW);

  test('every public id is a UUID and belongs to one model', () => {
    expect(list.every((model) => isUuid(model.publicId))).toBe(true);
    expect(new Set(list.map((model) => model.publicId)).size).toBe(list.length);
  });

  test('public ids never change', () => {
    expect(globalModelId('openai', 'gpt-4.1')).toBe('1ba8a6d6-44b6-5125-afac-0d1cd54379ad');
    expect(globalModelId('anthropic', 'claude-opus-5-5')).toBe('321f56e0-f5c9-5e73-9193-058829d497d3');
    expect(BUILTIN_MODEL.publicId).toBe('d9f05680-f73a-5ee8-ba5a-1b657ea011cc');
  });

  test('holds the current models of three providers, each with a sound window, price and temperature range', () => {
    const ids = list.map((model) => `${model.provider}/${model.modelId}`);
    expect(ids).toEqual(
      expect.arrayContaining(['openai/gpt-6.1-sol', 'anthropic/claude-sonnet-5-5', 'google/gemini-4-argon']),
    );
    for (const model of list.filter(({ provider }) => provider !== 'builtin')) {
      expect({ ...model, ok: true }).toMatchObject({ ok: true, scope: 'global', iconUrl: null });
      expect(model.contextWindow).toBeGreaterThanOrEqual(100_000);
      expect(model.contextWindow).toBeLessThanOrEqual(3_000_000);
      expect(model.inputCostPer1MTokens).toBeGreaterThan(0);
      expect(model.inputCostPer1MTokens).toBeLessThanOrEqual(50);
      expect(model.outputCostPer1MTokens).toBeGreaterThan(model.inputCostPer1MTokens);
      expect(model.outputCostPer1MTokens).toBeLessThanOrEqual(300);
      const top = model.supportsTemperature ? (model.provider === 'anthropic' ? 1 : 2) : 0;
      expect([model.minTemperature, model.maxTemperature]).toEqual([0, top]);
    }
  });

  test('has no model that only draws, speaks, embeds or listens', () => {
    const odd = list.filter(({ modelId }) =>
      /image|tts|audio|embed|whisper|realtime|transcribe|banana|codex/.test(modelId),
    );
    expect(odd).toEqual([]);
  });

  test('models are active exactly when their provider has a key; the built-in one always is', () => {
    const active = (settings: ModelSettings) =>
      new Set(listGlobalModels(settings, NOW).flatMap((model) => (model.active ? [model.provider] : [])));
    expect(active(bare)).toEqual(new Set(['builtin']));
    expect(active({ retries: 0, anthropic: { apiKey: 'k' } })).toEqual(new Set(['builtin', 'anthropic']));
  });

  test('a compatible server adds its models, without price, with the abilities of a model known by that name', () => {
    const settings: ModelSettings = {
      retries: 0,
      openaiCompatible: { baseUrl: 'http://127.0.0.1:1/v1', models: ['llama-9', 'vendor/claude-haiku-4-5'] },
    };
    expect(modelOf(settings, 'openai-compatible', 'llama-9')).toMatchObject({
      name: 'llama-9',
      active: true,
      contextWindow: 128_000,
      supportsImage: false,
      supportsTemperature: true,
      inputCostPer1MTokens: 0,
      outputCostPer1MTokens: 0,
    });
    expect(modelOf(settings, 'openai-compatible', 'vendor/claude-haiku-4-5')).toMatchObject({
      contextWindow: 200_000,
      supportsImage: true,
      maxTemperature: 1,
      inputCostPer1MTokens: 0,
    });
  });

  test('the list is made once a day, and a price that was announced takes effect on its day', () => {
    expect(listGlobalModels(bare, NOW)).toBe(list);
    const price = (day: string) =>
      findGlobalModel(bare, globalModelId('google', 'gemini-4-argon'), new Date(day))?.inputCostPer1MTokens;
    expect(price('2026-11-30T23:59:59Z')).toBe(2);
    expect(price('2026-12-01T00:00:00Z')).toBe(4);
  });

  test('names read as people write them', () => {
    const names = new Set(list.map((model) => model.name));
    for (const name of ['GPT-6.1 Sol', 'Claude Opus 5.5', 'Gemini 3.8 Flash', 'GPT-4o Mini'])
      expect(names).toContain(name);
  });
});

describe('findGlobalModel', () => {
  test('finds a model of a provider without a key too, and nothing under an unknown id', () => {
    expect(findGlobalModel(bare, globalModelId('openai', 'gpt-4.1'), NOW)).toMatchObject({ active: false });
    expect(findGlobalModel(bare, '00000000-0000-7000-8000-000000000000', NOW)).toBeUndefined();
  });
});

describe('a model that a workspace added', () => {
  const row = (modelId: string) =>
    customModel({
      id: 'own',
      name: 'Own',
      provider: 'anthropic',
      model_id: modelId,
      context_window: 200_000,
      supports_image: false,
      supports_document: false,
      supports_thinking: false,
      supports_temperature: true,
      min_temperature: 0,
      max_temperature: 1,
      input_cost_per_1m_tokens: 2,
      output_cost_per_1m_tokens: 10,
    });

  test('pays as much less for cached input as the model of the catalogue does, and the full price where none is known', () => {
    const usage = {
      inputTokens: 1_000,
      outputTokens: 0,
      totalTokens: 1_000,
      cachedInputTokens: 1_000,
      cacheWriteTokens: 0,
    };
    expect(costUsd(row('claude-haiku-4-5'), usage)).toBe((1_000 * 0.2) / 1e6);
    expect(costUsd(row('claude-of-our-own'), usage)).toBe((1_000 * 2) / 1e6);
  });
});

describe('costUsd', () => {
  const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0, cacheWriteTokens = 0) => ({
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens,
    cacheWriteTokens,
  });
  const model = {
    inputCostPer1MTokens: 2,
    outputCostPer1MTokens: 10,
    priceDetails: { cachedInput: 0.2, long: { above: 1_000, input: 4, output: 15 } },
  };

  test('counts input and output at their prices', () => {
    expect(costUsd({ inputCostPer1MTokens: 3, outputCostPer1MTokens: 15 }, usage(1_000_000, 100_000))).toBe(4.5);
  });

  test('counts cached input at its own price', () => {
    expect(costUsd(model, usage(1_000, 100, 400))).toBe((600 * 2 + 400 * 0.2 + 100 * 10) / 1e6);
  });

  test('counts input that is written to the cache at 1.25 times its price, or at the price of the catalogue', () => {
    expect(costUsd(model, usage(1_000, 100, 400, 500))).toBe((100 * 2 + 400 * 0.2 + 500 * 2.5 + 100 * 10) / 1e6);
    const priced = { ...model, priceDetails: { cacheWrite: 3 } };
    expect(costUsd(priced, usage(1_000, 0, 0, 1_000))).toBe((1_000 * 3) / 1e6);
    // A long prompt: all prices rise in the same proportion.
    expect(costUsd(model, usage(2_000, 0, 1_000, 1_000))).toBe((1_000 * 0.4 + 1_000 * 5) / 1e6);
  });

  test('counts a long prompt whole at the long prices', () => {
    expect(costUsd(model, usage(1_001, 100))).toBe((1_001 * 4 + 100 * 15) / 1e6);
  });

  test('has no binary rounding errors', () => {
    expect(costUsd({ inputCostPer1MTokens: 0.1, outputCostPer1MTokens: 0.2 }, usage(3, 3))).toBe(0.0000009);
  });
});
