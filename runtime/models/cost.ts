import type { ModelDescriptor } from './catalogue.ts';

/** Tokens of one call. */
export type CallUsage = {
  /** All that the model read, with the cached and the written ones. */
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** The part of `inputTokens` that the provider had in its cache. */
  cachedInputTokens: number;
  /** The part of `inputTokens` that the provider put into its cache and charges for. Most providers charge nothing, and report none. */
  cacheWriteTokens: number;
};

/**
 * Price of a token that is written to the cache, against that of an input token: Anthropic's for five minutes
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing), and OpenAI's since GPT-5.6.
 */
export const CACHE_WRITE_FACTOR = 1.25;

type ModelPrices = Pick<ModelDescriptor, 'inputCostPer1MTokens' | 'outputCostPer1MTokens' | 'priceDetails'>;

/**
 * Returns the cost of a call in USD, rounded to a hundred-millionth so that sums have no binary rounding errors. Long prompts are
 * billed whole at the long prices; cached and written input at their own prices, in proportion when the prompt is long.
 */
export function costUsd(model: ModelPrices, usage: CallUsage): number {
  const plain = model.inputCostPer1MTokens;
  const { cachedInput = plain, cacheWrite = plain * CACHE_WRITE_FACTOR, long } = model.priceDetails ?? {};
  const isLong = long !== undefined && usage.inputTokens > long.above;
  const input = isLong ? long.input : plain;
  const output = isLong ? long.output : model.outputCostPer1MTokens;
  const scale = plain > 0 ? input / plain : 1;
  const { cachedInputTokens: cached, cacheWriteTokens: written } = usage;
  const fresh = usage.inputTokens - cached - written;
  const micros =
    fresh * input + cached * cachedInput * scale + written * cacheWrite * scale + usage.outputTokens * output;
  return Math.round(micros * 100) / 1e8;
}
