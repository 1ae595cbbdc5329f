import type { StoredMessage } from './modelMessage.ts';

/** The JSON of turns.paused. It is read through `pausedRunOf`, which upgrades the older formats. */
export type StoredPausedRun = PausedRunFormat1 | PausedRunFormat2 | PausedRunFormat3;

/**
 * The format that is written today. A change of its shape is a new format: rows in the old one stay as they are. `json` is the JSON of a
 * StoredRun as a text, because jsonb changes the order of the arguments of calls.
 */
export interface PausedRunFormat3 {
  format: 3;
  json: string;
}

/** What was written before the order of arguments was kept. */
export interface PausedRunFormat2 extends StoredRun<StoredToolOrigin> {
  format: 2;
}

/** What was written before paused runs had a format number. */
export interface PausedRunFormat1 extends StoredRun<ToolOriginFormat1> {
  format?: undefined;
}

/** An agent's run that waits for approvals. The run of a sub-agent is within that of its parent, and has no number of its own. */
export interface StoredRun<Origin> {
  agentId: string;
  task: string;
  writer: string;
  messages: readonly StoredMessage[];
  calls: readonly StoredCall<Origin>[];
}

/** A call of the step at which the run paused. */
export interface StoredCall<Origin> {
  toolCallId: string;
  toolName: string;
  origin: Origin | null;
  state: StoredCallState<Origin>;
}

/** How far a call has come. */
export type StoredCallState<Origin> =
  | { kind: 'done'; output: { text: string; isError: boolean } }
  | { kind: 'waiting'; approvalId: string; input: Record<string, unknown>; requestedAt: string }
  | { kind: 'delegated'; paused: StoredRun<Origin> };

/** Which tool a call is of; also the JSON of approvals.origin. */
export type StoredToolOrigin =
  | { kind: 'http_tool'; id: string; operationId: string | null }
  | { kind: 'external_mcp' | 'native_mcp'; id: string; toolName: string }
  | { kind: 'sub_agent'; id: string }
  | { kind: 'capability'; name: string };

/** Before format 2, a tool of an MCP server and an endpoint of a CUSTOM_INTEGRATION were called operations. */
export type ToolOriginFormat1 =
  | Exclude<StoredToolOrigin, { toolName: string } | { operationId: string | null }>
  | { kind: 'http_tool'; id: string; operation: string | null }
  | { kind: 'external_mcp'; id: string; operation: string }
  | { kind: 'native_mcp'; id: string; operation: string };
