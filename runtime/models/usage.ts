import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type RawAnswer, textsOf } from './answer.ts';
import type { CallUsage } from './cost.ts';
import { promptTexts } from './prompt.ts';

/** One token per four characters, rounded up, for servers that report no usage. */
const estimate = (texts: readonly string[]): number => Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4);

/** Tokens that one call may have: as many as the largest window of a model. */
const MAX_TOKENS = 10_000_000;

/**
 * A count of a server in whole tokens; undefined when it gave none, or one that cannot be true. It must neither fail an answer that is
 * already paid for, nor be charged.
 */
function counted(tokens: number | undefined): number | undefined {
  const whole = Math.max(0, Math.round(tokens ?? Number.NaN));
  return whole <= MAX_TOKENS ? whole : undefined;
}

/** Cached tokens in the fields of servers whose package does not read them: DeepSeek's, and Moonshot's. */
function ownCacheRead({ raw }: RawAnswer['usage']): number | undefined {
  const own = raw?.prompt_cache_hit_tokens ?? raw?.cached_tokens;
  return typeof own === 'number' ? own : undefined;
}

/** Returns the tokens of a call as the provider reports them, or else an estimate. */
export function usageOf(raw: RawAnswer, { prompt, tools }: LanguageModelV4CallOptions): CallUsage {
  const sent = () => [...promptTexts(prompt), ...(tools === undefined ? [] : [JSON.stringify(tools)])];
  const inputTokens = counted(raw.usage.inputTokens.total) ?? estimate(sent());
  const outputTokens = counted(raw.usage.outputTokens.total) ?? estimate(textsOf(raw));
  const { cacheRead, cacheWrite } = raw.usage.inputTokens;
  const cachedInputTokens = Math.min(inputTokens, counted(cacheRead || ownCacheRead(raw.usage)) ?? 0);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens,
    cacheWriteTokens: Math.min(inputTokens - cachedInputTokens, counted(cacheWrite) ?? 0),
  };
}
