import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type RawAnswer, textsOf } from './answer.ts';
import type { CallUsage } from './cost.ts';
import { promptTexts } from './prompt.ts';

/** One token per four characters, rounded up, for servers that report no usage. */
const estimate = (texts: readonly string[]): number => Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4);

/** Rounds to whole tokens. An invalid count from a server must not fail an answer that is already paid for. */
const whole = (tokens: number): number => Math.max(0, Math.round(tokens));

/** Returns the tokens of a call as the provider reports them, or else an estimate. */
export function usageOf(raw: RawAnswer, { prompt, tools }: LanguageModelV4CallOptions): CallUsage {
  const described = tools === undefined ? [] : [JSON.stringify(tools)];
  const inputTokens = whole(raw.usage.inputTokens.total ?? estimate([...promptTexts(prompt), ...described]));
  const outputTokens = whole(raw.usage.outputTokens.total ?? estimate(textsOf(raw)));
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens: Math.min(inputTokens, whole(raw.usage.inputTokens.cacheRead ?? 0)),
  };
}
