import { hash } from 'node:crypto';
import { ownTurn } from '../../core/ownTurn.ts';

/** Counts the tokens of a text. A result above `limit` only means that there are more than `limit`. */
export type TokenCounter = (text: string, limit: number) => Promise<number>;

type Encoding = Pick<typeof import('gpt-tokenizer/encoding/o200k_base'), 'countTokens' | 'setMergeCacheSize'>;

/** `<|endoftext|>` and the like count as text. By default the library throws on them. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
/**
 * The merge loop of the library is quadratic in the length of what its pattern calls a word: letters, or anything but letters and
 * digits. A megabyte of one letter would take hours; words cut into 128 take a second at worst, for a token more per cut.
 */
const LONG_WORD = /[\p{L}\p{M}]{129,}|[^\p{L}\p{N}]{129,}/gu;
const WORD_PART = /.{1,128}/gsu;
const SEGMENT_CHARS = 4_096;
/** Characters between two turns of the event loop: 1 ms for prose, 25 ms for the worst text. */
const STRETCH_CHARS = SEGMENT_CHARS;
const MAX_CACHED_COUNTS = 20_000;
/** Counting a shorter text is faster than hashing it. */
const MIN_CACHED_CHARS = 64;

const cache = new Map<string, number>();
let loading: Promise<Encoding> | undefined;
/** What is left of the stretch. Many short texts are one stretch: counting one ends without a turn of the event loop. */
let stretch = STRETCH_CHARS;

/** Loaded at the first use: 140 ms and 70 MB. A service whose conversations always fit never loads it. */
function load(): Promise<Encoding> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then((encoding) => {
    // By default the library caches 100,000 words.
    encoding.setMergeCacheSize(5_000);
    return encoding;
  });
  return loading;
}

function countSegment(encoding: Encoding, segment: string): number {
  let tokens = 0;
  let from = 0;
  for (const match of segment.matchAll(LONG_WORD)) {
    if (match.index > from) tokens += encoding.countTokens(segment.slice(from, match.index), AS_TEXT);
    for (const part of match[0].match(WORD_PART) ?? []) tokens += encoding.countTokens(part, AS_TEXT);
    from = match.index + match[0].length;
  }
  return from < segment.length ? tokens + encoding.countTokens(segment.slice(from), AS_TEXT) : tokens;
}

/**
 * Counts the tokens of a text in OpenAI's o200k_base, the encoding of GPT-4o and later. The count is exact for ordinary text, and a few
 * in a thousand too high for long texts, which are counted in pieces. Counts are cached by hash, so that a conversation's earlier
 * messages are counted once.
 */
export const countTokens: TokenCounter = async (text, limit) => {
  const key = text.length < MIN_CACHED_CHARS ? null : hash('sha1', text, 'base64');
  const known = key === null ? undefined : cache.get(key);
  if (key !== null && known !== undefined) {
    // Moves the entry to the end, because the first entry is evicted first.
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const encoding = await load();
  let tokens = 0;
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(from + SEGMENT_CHARS, text.length);
    // Not between the halves of a surrogate pair.
    if (to < text.length && (text.charCodeAt(to) & 0xfc00) === 0xdc00) to += 1;
    tokens += countSegment(encoding, text.slice(from, to));
    stretch -= to - from;
    if (stretch <= 0) {
      stretch = STRETCH_CHARS;
      await ownTurn();
    }
    if (tokens > limit) return tokens;
  }
  if (key !== null) {
    cache.set(key, tokens);
    const [oldest] = cache.size > MAX_CACHED_COUNTS ? cache.keys() : [];
    if (oldest !== undefined) cache.delete(oldest);
  }
  return tokens;
};
