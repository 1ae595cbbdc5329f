import type { ApprovalRow } from '../../db/queries/turns/approvals.ts';
import type { ModelMessage } from '../models/prompt.ts';
import type { ToolOrigin, ToolOutput } from './tool.ts';

/** How far one of the calls that a model asked for has come. */
export type CallState =
  | { kind: 'done'; output: ToolOutput }
  /** A person has to decide. */
  | { kind: 'waiting'; approvalId: string; input: Record<string, unknown>; requestedAt: string }
  /** A sub-agent is at it, and waits. */
  | { kind: 'delegated'; paused: PausedRun };

/** A call that a model asked for in the step at which its agent paused. */
export interface PausedCall {
  toolCallId: string;
  toolName: string;
  origin: ToolOrigin | null;
  state: CallState;
}

/** Where an agent goes on when its approvals are decided. Plain JSON: it is stored. */
export interface PausedRun {
  agentId: string;
  /** What a sub-agent was asked; '' for the agent of the conversation. */
  task: string;
  /** Provider and name of the model, and whether it thought: its own parts in `messages` mean something to it alone. */
  writer: string;
  /** What came after the message that is answered; ends with the model's message that asked for the calls. */
  messages: readonly ModelMessage[];
  calls: readonly PausedCall[];
}

/** A call that waits, as people are told of it. */
export interface PendingApproval {
  id: string;
  toolName: string;
  input: Record<string, unknown>;
  requestedAt: string;
}

/** With what a paused run goes on. */
export interface Resumption {
  /** The approvals of the run as they are stored, by their ids. */
  approvals: ReadonlyMap<string, ApprovalRow>;
  /** Those among the rejected that nobody said no to: the person wrote something else instead. */
  withdrawn: ReadonlySet<string>;
}

/** Every call of the run that has waited for a decision, those of sub-agents too. */
export function waitingCalls(paused: PausedRun): PendingApproval[] {
  return paused.calls.flatMap(({ toolName, state }) => {
    if (state.kind === 'delegated') return waitingCalls(state.paused);
    if (state.kind === 'done') return [];
    const { approvalId: id, input, requestedAt } = state;
    return [{ id, toolName, input, requestedAt }];
  });
}
