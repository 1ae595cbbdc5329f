import { nearest } from './nearest.ts';
import { type ToolRow, toolRows } from './table.ts';

/** Which of the tools a server offers, and how. Choices combine: a tool must meet all of them. */
export interface ToolChoice {
  /** Tags of the document in any spelling: `Agents`, `agent-prompt`, `external_mcps`. */
  tags?: readonly string[] | undefined;
  /** Names of tools, or operationIds. */
  tools?: readonly string[] | undefined;
  /** Only tools that change nothing. */
  readOnly?: boolean | undefined;
  /** `search`: three tools that find, describe and call the others. Default `all`. */
  mode?: 'all' | 'search' | undefined;
}

/** A tag or tool that does not exist, or nothing that is left to offer. The message says what was meant, as far as that can be told. */
export class UnknownChoice extends Error {
  override readonly name = 'UnknownChoice';
}

/**
 * The tools of a choice, in the order of the document.
 * @throws UnknownChoice when a tag or a tool does not exist, or when no tool meets the choice
 */
export function chosenRows({ tags, tools, readOnly }: ToolChoice): ToolRow[] {
  const tagNames = tags && new Set(tags.map((tag) => known('tag', tag, tagsBySpelling)));
  const toolNames = tools && new Set(tools.map((tool) => known('tool', tool, toolsBySpelling)));
  const rows = toolRows.filter(
    ({ tag, tool }) =>
      (!tagNames || tagNames.has(tag)) &&
      (!toolNames || toolNames.has(tool.name)) &&
      (!readOnly || tool.annotations?.readOnlyHint === true),
  );
  if (rows.length === 0) throw new UnknownChoice('No tool meets all of --tags, --tools and --read-only.');
  return rows;
}

const spelling = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const tagsBySpelling = new Map(toolRows.map(({ tag }) => [spelling(tag), tag]));
const toolsBySpelling = new Map(
  toolRows.flatMap(({ operationId, tool }) => [
    [spelling(tool.name), tool.name],
    [spelling(operationId), tool.name],
  ]),
);

function known(kind: 'tag' | 'tool', given: string, names: ReadonlyMap<string, string>): string {
  const found = names.get(spelling(given));
  if (found !== undefined) return found;
  const close = names.get(nearest(given, names.keys()) ?? '');
  const all = kind === 'tag' ? ` The tags are: ${[...names.values()].join(', ')}.` : '';
  throw new UnknownChoice(`There is no ${kind} "${given}".${close === undefined ? all : ` Did you mean "${close}"?`}`);
}
