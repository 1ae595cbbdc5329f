import type { AgentTool, ToolCallContext, ToolOutput } from '../agent/tool.ts';

/** A tool of the run-time's own, as far as it differs from the others. */
export interface OwnTool extends Pick<AgentTool, 'name' | 'description' | 'inputSchema'> {
  run(input: Record<string, unknown>, call: ToolCallContext): ToolOutput | Promise<ToolOutput>;
}

/** Makes a tool that belongs to a capability, needs no approval and does nothing for a turn that has ended. */
export function ownTool({ run, ...tool }: OwnTool): AgentTool {
  return {
    ...tool,
    owner: null,
    origin: { kind: 'capability', name: tool.name },
    requiresApproval: false,
    async run(input, call) {
      call.signal.throwIfAborted();
      return await run(input, call);
    },
  };
}
