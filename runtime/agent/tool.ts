import type { Logger } from 'pino';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import type { KnowledgeFindings } from '../knowledge/search.ts';
import type { ToolFile } from '../models/toolFiles.ts';
import type { Resources } from '../resources/resources.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import type { JsonSchema } from '../tools/tool.ts';
import type { PausedRun, Resumption } from './paused.ts';
import type { RunRecord } from './storedSteps.ts';

/** An agent and the end user that it works for: everything that its tools and its prompt are made from. */
export interface AgentScope extends WorkspaceRuntime {
  logger: Pick<Logger, 'warn'> | undefined;
  agentId: string;
  conversationId: string;
  /** Over which the conversation is held. */
  channel: ConversationRow['channel'];
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

/** The output of a tool call, which the model reads. A failure that the model can act on is an output, not an exception. */
export interface ToolOutput {
  text: string;
  isError: boolean;
  /** Images, for models that see. They are kept for the turn of the call only, and never stored. `text` has a line for each. */
  files?: readonly ToolFile[] | undefined;
}

/** Returned for sub-agents only: the call waits until calls of the sub-agent are approved. */
export interface Suspension {
  paused: PausedRun;
}

/** What the run-time provides for one call of a tool. */
export interface ToolCallContext {
  /** Aborted when the call must end. The tool may throw the signal's reason then. */
  signal: AbortSignal;
  /** Shows components with the reply. The last call counts. */
  showUi(ui: Record<string, unknown>): void;
  /** Notes what a search of the knowledge found, for whoever reads the turn afterwards. The last call counts. */
  noteFindings(findings: KnowledgeFindings): void;
  /** Pauses the conversation when the turn ends: a person takes over. */
  handOver(): void;
  /** The number of the call's step. The steps of a sub-agent that works on it name it. */
  step?: number | undefined;
  /** What an earlier attempt at the turn stored of the sub-agent's work on this call. */
  record?: RunRecord | undefined;
}

/** A tool that the model can call. */
export interface AgentTool {
  /** Its name for the model, unless another tool has the same one (see toolNames.ts). */
  name: string;
  /** The name of the MCP server or connection that it belongs to, which distinguishes tools of one name. Null when it belongs to none. */
  owner: string | null;
  description: string;
  /** JSON Schema of an object. */
  inputSchema: JsonSchema;
  origin: ToolOrigin;
  /** Each call needs the approval of a person. */
  requiresApproval: boolean;
  /**
   * Makes the call. `input` is an object that was not checked any further. A failure of the tool is an output with `isError`; thrown
   * are the signal's reason and faults of this service.
   */
  run(input: Record<string, unknown>, call: ToolCallContext): Promise<ToolOutput | Suspension>;
  /** Sub-agents only: continues where `run` was suspended. */
  resume?(paused: PausedRun, call: ToolCallContext, resumption: Resumption): Promise<ToolOutput | Suspension>;
}
