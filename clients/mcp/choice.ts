import type { ToolChoice } from './tools/index.ts';

const NAMES = ['tags', 'tools', 'read_only', 'mode'];

/**
 * Which tools a client wants, by the query of the address: `?tags=agents,messages&tools=…&read_only=true&mode=search`, the same as the options of
 * the command. A sentence when it says something else.
 */
export function readChoice(query: URLSearchParams): ToolChoice | string {
  const unknown = [...query.keys()].find((name) => !NAMES.includes(name));
  if (unknown !== undefined) return `The address has no parameter ${unknown}. It takes ${NAMES.join(', ')}.`;
  const readOnly = query.get('read_only');
  if (readOnly !== null && readOnly !== 'true' && readOnly !== 'false') return 'read_only is true or false.';
  const mode = query.get('mode');
  if (mode !== null && mode !== 'all' && mode !== 'search') return 'mode is all or search.';
  const tags = listOf(query.getAll('tags'));
  const tools = listOf(query.getAll('tools'));
  return {
    ...(tags.length > 0 ? { tags } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(readOnly === 'true' ? { readOnly: true } : {}),
    ...(mode === null ? {} : { mode }),
  };
}

/** The names in values such as `agents,messages`. */
export function listOf(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
