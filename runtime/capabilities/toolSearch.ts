import type { ToolkitTool } from '../../integrations/toolkits/toolkits.ts';

/** Tools that a result shows with their schemas. */
export const MAX_TOOLS_SHOWN = 15;
/** Tools that a result names without their schemas. */
const MAX_NAMED = 300;
/** Characters of a description beside a name. */
const MAX_DESCRIPTION = 160;
/** Words of a search; each of them is searched for in every tool. */
const MAX_WORDS = 20;

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * Searches the tools of a connection and returns text for a model. A tool matches when it has one of the first 20 words of the search;
 * those with the most words come first. Without words, all tools match.
 */
export function searchTools(tools: readonly ToolkitTool[], search: string): string {
  const words = [...new Set(wordsOf(search))].slice(0, MAX_WORDS);
  const scored = tools.map((tool) => {
    const text = `${tool.name} ${tool.description}`.toLowerCase();
    return { tool, score: words.filter((word) => text.includes(word)).length };
  });
  const found = scored
    .filter(({ score }) => words.length === 0 || score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
  if (found.length === 0)
    return tools.length === 0 ? 'There are no tools.' : 'No tool has these words. Search for others.';
  const full = words.length > 0 || found.length <= MAX_TOOLS_SHOWN;
  const shown = found.slice(0, full ? MAX_TOOLS_SHOWN : MAX_NAMED);
  const more = found.length - shown.length;
  const lines = shown.map((tool) =>
    full ? JSON.stringify(tool) : `${tool.name}: ${tool.description.replace(/\s+/g, ' ').slice(0, MAX_DESCRIPTION)}`,
  );
  return [...lines, ...(more > 0 ? [`(${more} more: search with other words)`] : [])].join('\n');
}
