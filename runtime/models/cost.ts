import type { ModelDescriptor } from './catalogue.ts';

/** Tokens of one call. `cachedInputTokens` is the part of `inputTokens` that the provider had in its cache. */
export type CallUsage = {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  cachedInputTokens: number;
};

type ModelPrices = Pick<ModelDescriptor, 'inputCostPer1MTokens' | 'outputCostPer1MTokens' | 'priceDetails'>;

/**
 * Returns the cost of a call in USD, rounded to a hundred-millionth so that sums have no binary rounding errors. Long prompts are
 * billed whole at the long prices; cached input at its own price, in proportion when the prompt is long.
 */
export function costUsd(model: ModelPrices, usage: CallUsage): number {
  const { cachedInput = model.inputCostPer1MTokens, long } = model.priceDetails ?? {};
  const isLong = long !== undefined && usage.inputTokens > long.above;
  const input = isLong ? long.input : model.inputCostPer1MTokens;
  const output = isLong ? long.output : model.outputCostPer1MTokens;
  const cached = model.inputCostPer1MTokens > 0 ? (cachedInput * input) / model.inputCostPer1MTokens : cachedInput;
  const fresh = usage.inputTokens - usage.cachedInputTokens;
  const micros = fresh * input + usage.cachedInputTokens * cached + usage.outputTokens * output;
  return Math.round(micros * 100) / 1e8;
}
