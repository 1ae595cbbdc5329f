import type { ApprovalRow } from '../../db/queries/turns/approvals.ts';
import type { ModelMessage } from '../models/prompt.ts';
import type { ToolOrigin, ToolOutput } from './tool.ts';

/** The state of one of the calls that a model asked for. */
export type CallState =
  | { kind: 'done'; output: ToolOutput }
  /** A person has to decide it. */
  | { kind: 'waiting'; approvalId: string; input: Record<string, unknown>; requestedAt: string }
  /** A sub-agent works on it, and waits for an approval. */
  | { kind: 'delegated'; paused: PausedRun };

/** A call that a model asked for in the step at which its agent paused. */
export interface PausedCall {
  toolCallId: string;
  toolName: string;
  origin: ToolOrigin | null;
  state: CallState;
}

/** A run that waits for approvals: where its agent continues when they are decided. It is stored (storedRun.ts). */
export interface PausedRun {
  agentId: string;
  /** The task of a sub-agent; '' for the agent of the conversation. */
  task: string;
  /** Provider and name of the model, and whether it thought. Its own parts in `messages` are of use to the same model only. */
  writer: string;
  /** The messages after the one that is answered. The last one is the model's message that asked for the calls. */
  messages: readonly ModelMessage[];
  calls: readonly PausedCall[];
}

/** A call that waits for an approval, as people see it. */
export interface PendingApproval {
  id: string;
  toolName: string;
  input: Record<string, unknown>;
  requestedAt: string;
}

/** The decisions with which a paused run continues. */
export interface Resumption {
  /** The approvals of the run as they are stored, by their ids. */
  approvals: ReadonlyMap<string, ApprovalRow>;
  /** Ids of rejected approvals that were withdrawn: the person wrote something else instead of a decision. */
  withdrawn: ReadonlySet<string>;
}

/** All calls of the run that wait for a decision, those of sub-agents too. */
export function waitingCalls(paused: PausedRun): PendingApproval[] {
  return paused.calls.flatMap(({ toolName, state }) => {
    if (state.kind === 'delegated') return waitingCalls(state.paused);
    if (state.kind === 'done') return [];
    const { approvalId: id, input, requestedAt } = state;
    return [{ id, toolName, input, requestedAt }];
  });
}
