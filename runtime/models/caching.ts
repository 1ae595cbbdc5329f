import { createHash } from 'node:crypto';
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';

/*
 * Providers keep what they have read of a prompt, and charge less for a request that begins in the same way. Google's, OpenAI's and most
 * compatible servers find the beginning by themselves; Anthropic's looks for it where a request says so.
 */

/**
 * Kept for five minutes from its last use, at Anthropic. A request may have four marks, and at each of them Anthropic looks back over 20
 * blocks for what an earlier request has kept (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
 */
const MARK: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };

type Message = LanguageModelV4Prompt[number];

const marked = <T extends { providerOptions?: SharedV4ProviderOptions }>(one: T): T => ({
  ...one,
  providerOptions: { ...one.providerOptions, anthropic: { ...one.providerOptions?.anthropic, ...MARK.anthropic } },
});

/**
 * The same request with Anthropic's marks on the last tool, the system prompt, the newest message of the user, and what came last after
 * it. The mark on the message stays where it is for the whole turn: steps with more results than Anthropic looks back over find it.
 */
export function withCacheMarks(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { prompt, tools = [] } = options;
  const newest = prompt.findLastIndex(({ role }) => role === 'user');
  const last = prompt.findLastIndex(({ role }) => role === 'user' || role === 'tool');
  const places = new Set([prompt.findIndex(({ role }) => role === 'system'), newest, last]);
  const lastTool = tools.length - 1;
  return {
    ...options,
    prompt: prompt.map((message, place): Message => (places.has(place) ? marked(message) : message)),
    ...(lastTool >= 0 && {
      tools: tools.map((tool, place) => (place === lastTool && tool.type === 'function' ? marked(tool) : tool)),
    }),
  };
}

/** Characters of OpenAI's key. It takes 64. */
const KEY_LENGTH = 32;

/**
 * OpenAI's key for requests that begin alike: they go to the same machine, which has their beginning
 * (https://developers.openai.com/cookbook/examples/prompt_caching_201). It says nothing of the ids that it is made from.
 */
export function promptCacheKey(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, KEY_LENGTH);
}
