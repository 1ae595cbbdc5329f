import type { Logger } from 'pino';
import type { Resources } from '../resources/resources.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import type { JsonSchema } from '../tools/tool.ts';
import type { PausedRun, Resumption } from './paused.ts';

/** An agent and the end user that it works for: everything that its tools and its prompt are made from. */
export interface AgentScope extends WorkspaceRuntime {
  logger: Pick<Logger, 'warn'> | undefined;
  agentId: string;
  conversationId: string;
  externalUserId: string;
  /** The agents that delegated down to this one, and this one as the last. The first is the agent of the conversation. */
  path: readonly string[];
  /** The published version that runs. */
  snapshot: Snapshot;
  /** The agent's own prompt, its variables filled in. */
  instructions: string;
  /** What its links refer to now, without what is deleted, inactive or unusable. */
  resources: Resources;
}

/**
 * Identifies a tool, whatever its name is in a turn. Paused runs and approvals name their tools by it. `operationId` names the
 * endpoint of a CUSTOM_INTEGRATION and is null for the other kinds of HTTP tool; `toolName` is the name of the tool on its server.
 */
export type ToolOrigin =
  | { kind: 'http_tool'; id: string; operationId: string | null }
  | { kind: 'external_mcp' | 'native_mcp'; id: string; toolName: string }
  | { kind: 'sub_agent'; id: string }
  | { kind: 'capability'; name: string };

/** What came of a call, for the model to read. A failure that the model can act on is a result, not an exception. */
export interface ToolOutput {
  text: string;
  isError: boolean;
}

/** Only of sub-agents: the call waits for approvals of what the sub-agent wants to do. */
export interface Suspension {
  paused: PausedRun;
}

/** One call. */
export interface ToolCallContext {
  /** Ends the call: the tool may throw the signal's reason then. */
  signal: AbortSignal;
  /** Shows components with the reply; the last ones shown count. */
  showUi(ui: Record<string, unknown>): void;
}

/** One thing that the model can call. */
export interface AgentTool {
  /** What the model calls it, unless another tool has the name too (see toolset.ts). */
  name: string;
  /** Whose tool it is, such as the name of an MCP server: tells apart tools of one name. Null for the run-time's own. */
  owner: string | null;
  description: string;
  /** JSON Schema of an object. */
  inputSchema: JsonSchema;
  origin: ToolOrigin;
  /** A person decides each call. */
  requiresApproval: boolean;
  /**
   * Does it. `input` is an object and nothing more is known of it. What the tool cannot do is an output with `isError`;
   * thrown is the signal's reason, or a fault of this service itself.
   */
  run(input: Record<string, unknown>, call: ToolCallContext): Promise<ToolOutput | Suspension>;
  /** Of sub-agents alone: goes on where `run` was suspended. */
  resume?(paused: PausedRun, call: ToolCallContext, resumption: Resumption): Promise<ToolOutput | Suspension>;
}
