import type { Tool } from '@modelcontextprotocol/server';
import rows from '../../../generated/tools.json' with { type: 'json' };

/** One operation as a tool. */
export interface ToolRow {
  operationId: string;
  tag: string;
  tool: Tool;
}

/** Every tool, in the order of the document. */
export const toolRows = rows as unknown as readonly ToolRow[];
