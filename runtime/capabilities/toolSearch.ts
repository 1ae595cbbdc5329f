import type { ToolkitTool } from '../../integrations/toolkits/toolkits.ts';

/** Tools that are shown with their schemas. */
export const TOOLS_SHOWN = 15;
const MOST_NAMED = 300;
const SHORT = 160;
/** Each is looked for in every tool. */
const MOST_WORDS = 20;

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Tools that have words of the search (its first 20), those with most of them first, as text for a model; all tools when there are no words. */
export function searchTools(tools: readonly ToolkitTool[], search: string): string {
  const words = [...new Set(wordsOf(search))].slice(0, MOST_WORDS);
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
  const full = words.length > 0 || found.length <= TOOLS_SHOWN;
  const shown = found.slice(0, full ? TOOLS_SHOWN : MOST_NAMED);
  const more = found.length - shown.length;
  const lines = shown.map((tool) =>
    full ? JSON.stringify(tool) : `${tool.name}: ${tool.description.replace(/\s+/g, ' ').slice(0, SHORT)}`,
  );
  return [...lines, ...(more > 0 ? [`(${more} more: search with other words)`] : [])].join('\n');
}
