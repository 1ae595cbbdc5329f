import type { CallToolResult } from '@modelcontextprotocol/server';

type Json = Record<string, unknown>;

/** What a result may have, in characters of JSON: about 12,000 tokens, which clients show a model as a whole. */
export const MAX_RESULT_CHARACTERS = 40_000;
/** A text in a result that is too large is cut to this, and then to a fraction of it, until the result fits. */
const FIRST_CUT = 8_000;
const LAST_CUT = 100;

/**
 * The result of a call that succeeded. Structured content is an object always: an array is `items`, and no answer is `done`. The text is
 * the same as compact JSON, for clients that show only text. What is too large is cut; `cut` then says how to get the rest.
 */
export function resultOf(answer: unknown, call: { args: Json; paged: boolean }): CallToolResult {
  const structuredContent = fitting(contentOf(answer), call);
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

function contentOf(answer: unknown): Json {
  if (answer === undefined) return { done: true };
  if (Array.isArray(answer)) return { items: answer };
  return answer as Json;
}

function fitting(content: Json, call: { args: Json; paged: boolean }): Json {
  if (sizeOf(content) <= MAX_RESULT_CHARACTERS) return content;
  if (Array.isArray(content.items)) return withFewerItems(content, content.items, call);
  return withShorterTexts(content);
}

function withFewerItems(
  content: Json,
  items: readonly unknown[],
  { args, paged }: { args: Json; paged: boolean },
): Json {
  const room = MAX_RESULT_CHARACTERS - sizeOf({ ...content, items: [] }) - 400;
  const kept: unknown[] = [];
  let size = 0;
  for (const item of items) {
    size += sizeOf(item) + 1;
    if (size > room) break;
    kept.push(item);
  }
  if (kept.length === 0 && items.length > 0) {
    const { cut, ...first } = withShorterTexts({ ...content, items: items.slice(0, 1) });
    return { ...first, cut: `${cut} ${restOf(1, items.length, args, paged)}`.trim() };
  }
  return { ...content, items: kept, cut: restOf(kept.length, items.length, args, paged) };
}

/** How to get the items that were left out. */
function restOf(kept: number, all: number, args: Json, paged: boolean): string {
  if (kept >= all) return '';
  const shown = `Only the first ${kept} of ${all} items are here.`;
  if (!paged)
    return `${shown} This list has no pages: narrow it with the other arguments, or get single items by their ids.`;
  const page = Number(args.page ?? 1);
  const limit = Number(args.limit ?? all);
  // Pages of `kept` items: the one that begins with the first item left out, or a little before it.
  const next = Math.floor(((page - 1) * limit + kept) / kept) + 1;
  return `${shown} Go on with {"limit": ${kept}, "page": ${next}}.`;
}

function withShorterTexts(content: Json): Json {
  for (let length = FIRST_CUT; length >= LAST_CUT; length /= 2) {
    const shorter = shortened(content, length) as Json;
    const note = `Texts of more than ${length} characters are cut here. "guildhall api" of the command line prints the whole answer.`;
    if (sizeOf(shorter) <= MAX_RESULT_CHARACTERS - 200) return { ...shorter, cut: note };
  }
  return withFewerParts(content);
}

/** The last resort for an object of very many parts: lists and objects inside lose their ends. */
function withFewerParts(content: Json): Json {
  for (let parts = 200; parts >= 1; parts = Math.floor(parts / 2)) {
    const fewer = pruned(shortened(content, LAST_CUT), parts) as Json;
    const note = `Lists of more than ${parts} items and long texts are cut here. "guildhall api" of the command line prints the whole answer.`;
    if (sizeOf(fewer) <= MAX_RESULT_CHARACTERS - 200) return { ...fewer, cut: note };
  }
  return { cut: 'The answer is too large to be shown. "guildhall api" of the command line prints it.' };
}

function shortened(value: unknown, length: number): unknown {
  if (typeof value === 'string') {
    return value.length <= length ? value : `${value.slice(0, length).toWellFormed()}… (${value.length} characters)`;
  }
  return mapped(value, (each) => shortened(each, length));
}

function pruned(value: unknown, parts: number): unknown {
  if (Array.isArray(value)) return value.slice(0, parts).map((each) => pruned(each, parts));
  return mapped(value, (each) => pruned(each, parts));
}

function mapped(value: unknown, change: (each: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each)]));
}

function sizeOf(value: unknown): number {
  return (JSON.stringify(value) ?? '').length;
}
