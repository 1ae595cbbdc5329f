import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { CallExtra } from './call.ts';
import { chosenRows, type ToolChoice } from './choice.ts';
import { searchTools } from './searchMode.ts';

export type { CallExtra } from './call.ts';
export { type ToolChoice, UnknownChoice } from './choice.ts';
export type { FilePolicy } from './files.ts';
export { TOOL_INSTRUCTIONS } from './instructions.ts';

/** The tools that a server offers. */
export interface ToolSet {
  /** Every tool, in one order that never changes. */
  list(): Tool[];
  /**
   * Calls a tool. Wrong arguments and errors of the API are results with `isError`. Rejects with the signal's reason when the call is
   * aborted.
   * @throws TypeError when there is no such tool
   */
  call(name: string, args: unknown, extra: CallExtra): Promise<CallToolResult>;
}

/**
 * The tools of a choice.
 * @throws UnknownChoice when the choice names a tag or a tool that does not exist, or leaves nothing
 */
export function toolSet(choice: ToolChoice = {}): ToolSet {
  const rows = chosenRows(choice);
  if (choice.mode === 'search') return searchTools(rows, choice);
  const tools = rows.map(({ tool }) => tool);
  const byName = new Map(rows.map((row) => [row.tool.name, row]));
  return {
    list: () => tools,
    async call(name, args, extra) {
      const row = byName.get(name);
      if (!row) throw new TypeError(`There is no tool ${name}.`);
      // A list needs neither the SDK nor Ajv: they are loaded with the first call.
      const { callTool } = await import('./call.ts');
      return callTool(row, args, extra);
    },
  };
}
