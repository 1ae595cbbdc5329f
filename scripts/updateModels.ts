import { readFileSync, writeFileSync } from 'node:fs';
import { anthropicModelCatalog } from '@ai-sdk/anthropic/internal';
import { getGoogleLanguageModelEntry } from '@ai-sdk/google/internal';
import { openaiModelCatalog } from '@ai-sdk/openai/internal';
import { findProvider } from '@pydantic/genai-prices';
import type { CatalogueEntry, CataloguePrice } from '../runtime/models/catalogue.ts';
import { CACHE_WRITE_FACTOR } from '../runtime/models/cost.ts';

/*
 * Writes runtime/models/catalogue.json: `npm run models:update` (which also formats it). Which models there are and what they take comes from the
 * tables of the AI SDK's providers, prices and context windows from @pydantic/genai-prices. Prices that the package
 * lacks are listed below, each with its page. Remove an entry when the package has it.
 */

/** Announced after the price package was made. Read on 2026-11-21. */
const NEWER: Record<string, { contextWindow: number; prices: CataloguePrice[] }> = {
  // https://developers.openai.com/api/docs/pricing
  'openai/gpt-6.1-sol': {
    contextWindow: 1_050_000,
    prices: [{ input: 2, output: 10, cachedInput: 0.1, long: { above: 272_000, input: 4, output: 15 } }],
  },
  'openai/gpt-6.1-terra': {
    contextWindow: 1_050_000,
    prices: [{ input: 1, output: 5, cachedInput: 0.05, long: { above: 272_000, input: 2, output: 7.5 } }],
  },
  // https://platform.claude.com/docs/en/about-claude/pricing
  'anthropic/claude-sonnet-5-5': { contextWindow: 1_000_000, prices: [{ input: 2, output: 10, cachedInput: 0.1 }] },
  'anthropic/claude-haiku-5-5': {
    contextWindow: 1_000_000,
    prices: [{ input: 0.1, output: 0.5, cachedInput: 0.01, long: { above: 100_000, input: 0.5, output: 2.5 } }],
  },
  // https://ai.google.dev/gemini-api/docs/pricing
  'google/gemini-4-argon': {
    contextWindow: 1_048_576,
    prices: [
      { input: 2, output: 10, cachedInput: 0.1 },
      { from: '2026-12-01', input: 4, output: 20, cachedInput: 0.2 },
    ],
  },
  'google/gemini-4-carbon': {
    contextWindow: 1_048_576,
    prices: [
      { input: 2, output: 10, cachedInput: 0.1 },
      { from: '2026-12-01', input: 4, output: 20, cachedInput: 0.2 },
    ],
  },
  'google/gemini-4-hydrogen': { contextWindow: 1_048_576, prices: [{ input: 1.5, output: 7.5 }] },
};

/** Context windows that the price package leaves out. https://ai.google.dev/gemini-api/docs/models */
const CONTEXT: Record<string, number> = {
  'google/gemini-2.5-pro': 1_048_576,
  'google/gemini-3.1-pro-preview': 1_048_576,
};

/** Models that are shut down or will be: new agents should not use them. */
const RETIRED = new Set([
  'anthropic/claude-opus-4-0',
  'anthropic/claude-opus-4-1',
  'anthropic/claude-sonnet-4-0',
  'google/gemini-2.0-flash',
  'google/gemini-3-pro-preview',
]);

// The Google table is not exported whole; ids that it does not know have no declared image input and fall out below.
const GOOGLE = findProvider({ providerId: 'google' })?.models.map((model) => model.id) ?? [];
const KNOWN: Record<CatalogueEntry['provider'], string[]> = {
  openai: Object.keys(openaiModelCatalog),
  anthropic: Object.keys(anthropicModelCatalog),
  google: [...GOOGLE, ...Object.keys(NEWER).flatMap((id) => (id.startsWith('google/') ? [id.slice(7)] : []))],
};

type Capabilities = Pick<CatalogueEntry, 'image' | 'document' | 'thinking' | 'thinkingOff' | 'temperature'>;

/** Returns what the AI SDK says about a model; undefined for one that does not converse in text. */
function capabilities(provider: CatalogueEntry['provider'], id: string): Capabilities | undefined {
  if (provider === 'google') {
    const { language } = getGoogleLanguageModelEntry(id).capabilities;
    if (!id.startsWith('gemini-') || language.inputs.image !== true || /image|tts|live|audio|banana/.test(id)) {
      return undefined;
    }
    // Gemini 4 takes low, medium and high only: https://ai.google.dev/gemini-api/docs/generate-content/latest-model
    const efforts = id.startsWith('gemini-4') ? ['low'] : language.reasoning.efforts;
    const lowest = efforts?.[0] ?? (language.reasoning.minBudget === 0 ? 'none' : undefined);
    return {
      image: true,
      document: true,
      thinking: true,
      thinkingOff: lowest === 'none' || lowest === 'minimal' ? lowest : undefined,
      temperature: [0, 2],
    };
  }
  if (provider === 'anthropic') {
    const language = anthropicModelCatalog[id]?.capabilities.language;
    if (language === undefined) return undefined;
    return {
      image: language.inputs.image === true,
      document: true,
      thinking: language.reasoning.support === true,
      // `none` becomes "think between tools only" where thinking has no other off switch.
      thinkingOff: language.reasoning.canDisable || language.reasoning.betweenTools ? 'none' : undefined,
      temperature: language.sampling.temperature === true ? [0, 1] : undefined,
    };
  }
  const catalog = openaiModelCatalog as Record<string, { capabilities: { language?: OpenAILanguage } }>;
  const language = catalog[id]?.capabilities.language;
  // Chat aliases change without notice, and codex models are for one client.
  if (language === undefined || !id.startsWith('gpt-') || /chat-latest|codex|audio|search/.test(id)) return undefined;
  const lowest = language.reasoning.efforts?.[0];
  return {
    image: language.inputs.image === true,
    document: true,
    thinking: language.reasoning.support === true,
    thinkingOff: lowest === 'none' || lowest === 'minimal' ? lowest : undefined,
    temperature:
      language.sampling.temperature === true || (lowest === 'none' && language.sampling.temperature !== false)
        ? [0, 2]
        : undefined,
  };
}

type OpenAILanguage = {
  inputs: { image: unknown };
  reasoning: { support: unknown; efforts?: readonly string[] };
  sampling: { temperature: unknown };
};

type TieredPrice = number | { base: number; tiers: { start: number; price: number }[] } | undefined;

const base = (price: TieredPrice): number | undefined => (typeof price === 'object' ? price.base : price);

function priceOf(prices: Record<string, TieredPrice>, from: string | undefined): CataloguePrice | undefined {
  const [input, output] = [base(prices.input_mtok), base(prices.output_mtok)];
  if (input === undefined || output === undefined) return undefined;
  const [longInput, longOutput] = [prices.input_mtok, prices.output_mtok].map((price) =>
    typeof price === 'object' ? price.tiers[0] : undefined,
  );
  const cachedInput = base(prices.cache_read_mtok);
  const cacheWrite = base(prices.cache_write_mtok);
  return {
    ...(from === undefined ? {} : { from }),
    input,
    output,
    ...(cachedInput === undefined ? {} : { cachedInput }),
    ...(cacheWrite === undefined || cacheWrite === input * CACHE_WRITE_FACTOR ? {} : { cacheWrite }),
    ...(longInput === undefined || longOutput === undefined
      ? {}
      : { long: { above: longInput.start, input: longInput.price, output: longOutput.price } }),
  };
}

/** Returns the prices by start date, without those that a later one has already replaced. */
function prices(provider: string, id: string, today: string): { contextWindow?: number; prices: CataloguePrice[] } {
  const model = findProvider({ providerId: provider })?.models.find((candidate) => candidate.id === id);
  if (model === undefined || model.deprecated === true) return { prices: [] };
  const list = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  const found = list.flatMap((entry) => {
    const constraint = 'constraint' in entry ? entry.constraint : undefined;
    const from = constraint?.type === 'start_date' ? constraint.start_date : undefined;
    return priceOf(entry.prices as Record<string, TieredPrice>, from) ?? [];
  });
  const current = found.findLastIndex((price) => price.from === undefined || price.from <= today);
  const contextWindow = model.context_window;
  return { ...(contextWindow === undefined ? {} : { contextWindow }), prices: found.slice(Math.max(current, 0)) };
}

const file = new URL('../runtime/models/catalogue.json', import.meta.url);

function previous(): Map<string, CatalogueEntry> {
  try {
    const { models } = JSON.parse(readFileSync(file, 'utf8')) as { models: CatalogueEntry[] };
    return new Map(models.map((model) => [`${model.provider}/${model.modelId}`, model]));
  } catch {
    return new Map();
  }
}

const today = new Date().toISOString().slice(0, 10);
const before = previous();
const models: CatalogueEntry[] = [];
for (const provider of ['openai', 'anthropic', 'google'] as const) {
  for (const modelId of new Set(KNOWN[provider])) {
    const id = `${provider}/${modelId}`;
    const able = capabilities(provider, modelId);
    if (able === undefined || RETIRED.has(id)) continue;
    const known = prices(provider, modelId, today);
    const from = known.prices.length > 0 ? known : NEWER[id];
    const contextWindow = from?.contextWindow ?? CONTEXT[id];
    if (from === undefined || contextWindow === undefined) {
      process.stderr.write(`left out, no price or context window is known: ${id}\n`);
      continue;
    }
    const entry = { provider, modelId, contextWindow, ...able, prices: from.prices };
    const { added, updated, ...old } = before.get(id) ?? { added: today, updated: today };
    const same = JSON.stringify(old) === JSON.stringify(entry);
    models.push({ ...entry, added, updated: same ? updated : today });
  }
}
models.sort((a, b) => a.provider.localeCompare(b.provider) || a.modelId.localeCompare(b.modelId));
writeFileSync(file, JSON.stringify({ models }));
process.stdout.write(`${models.length} models\n`);
