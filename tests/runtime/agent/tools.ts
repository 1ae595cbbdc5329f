import { newId } from '../../../core/ids.ts';
import type { AgentTool, ToolCallContext } from '../../../runtime/agent/tool.ts';

/** A tool of an MCP server by default. It returns its input. */
export function toolOf(name: string, owner: string | null, more: Partial<AgentTool> = {}): AgentTool {
  return {
    name,
    owner,
    description: `Does ${name}.`,
    inputSchema: { type: 'object', properties: {} },
    origin: { kind: 'external_mcp', id: newId(), toolName: name },
    requiresApproval: false,
    run: async (input) => ({ text: JSON.stringify(input), isError: false }),
    ...more,
  };
}

/** A tool of the run-time's own. */
export function ownTool(name: string, more: Partial<AgentTool> = {}): AgentTool {
  return toolOf(name, null, { origin: { kind: 'capability', name }, ...more });
}

/** A call that nobody ends. */
export function calling(signal = new AbortController().signal): ToolCallContext {
  return { signal, showUi: () => {}, noteFindings: () => {}, handOver: () => {} };
}
