import { fault } from '../../core/errors.ts';
import type { ApprovalRequest } from '../../db/queries/turns/approvals.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { ModelMessage } from '../models/prompt.ts';
import type { PausedRun } from './paused.ts';
import type { StepLog } from './stepLog.ts';
import type { AgentScope } from './tool.ts';
import type { Toolset } from './toolset.ts';

/** What the agents that work on one turn share. */
export interface TurnWork {
  steps: StepLog;
  /** Ends the turn. */
  signal: AbortSignal;
  /** Nobody is asked: every call is made. */
  autoApprove: boolean;
  /** Approvals that the turn asks for, to be stored with it. */
  approvals: ApprovalRequest[];
  /** Components that are shown with the reply. */
  ui: Record<string, unknown> | null;
  /** Calls of models that the turn may still make. */
  modelCallsLeft: number;
}

/** An agent at work on one message. */
export interface AgentRun {
  scope: AgentScope;
  /** 0 = the agent of the conversation. */
  depth: number;
  /** What a sub-agent was asked; '' for the agent of the conversation. */
  task: string;
  model: ModelDescriptor;
  system: string;
  toolset: Toolset;
  /** What was said before, and the message that is answered. */
  before: readonly ModelMessage[];
  work: TurnWork;
  /** Given: the text is streamed, piece by piece. */
  onText?: ((delta: string) => void) | undefined;
}

/** What an agent came to. */
export interface RunOutcome {
  /** Everything that it said, over all steps. */
  text: string;
  /** Calls and their results, as the model was shown them; without the last text. */
  messages: ModelMessage[];
  /** Given: it waits for approvals. */
  paused: PausedRun | null;
}

/** Calls of models in one turn, over all its agents. */
export const MAX_MODEL_CALLS = 100;

/**
 * Calls of models that an agent at this depth may still make: the turn's last one is left to the agent of the conversation, for its
 * answer. Throws MODEL_PROVIDER_ERROR, which its parent can live with, when a sub-agent may make none.
 */
export function callsLeft({ modelCallsLeft }: TurnWork, depth: number): number {
  if (depth === 0) return modelCallsLeft;
  if (modelCallsLeft > 1) return modelCallsLeft - 1;
  throw fault('MODEL_PROVIDER_ERROR', `All ${MAX_MODEL_CALLS} calls of models that a turn may make are made.`);
}
