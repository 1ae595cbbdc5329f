import { fault } from '../../core/errors.ts';
import type { KnowledgeFindings } from '../knowledge/search.ts';
import type { FinishReason } from '../models/call.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { ModelMessage } from '../models/prompt.ts';
import type { ShownFrom } from '../prompt/shown.ts';
import type { Turn } from '../turn/types.ts';
import type { PausedRun } from './paused.ts';
import type { RunRecord } from './storedSteps.ts';
import type { AgentScope } from './tool.ts';
import type { Toolset } from './toolset.ts';

/** One agent at work in a turn: its model, and everything that the model is shown. */
export interface AgentRun {
  /** Shared by all agents of the turn: steps, approvals, components and the number of calls are noted in it. */
  turn: Turn;
  scope: AgentScope;
  /** The task of a sub-agent; '' for the agent of the conversation. */
  task: string;
  model: ModelDescriptor;
  /** The system prompt, the same in every turn. */
  system: string;
  /** What stands beside the message that is answered; '' = nothing. `before` has it. */
  beside: string;
  /** What was found for the message, if the agent has knowledge. The first step is stored with it. */
  knowledge?: KnowledgeFindings | undefined;
  toolset: Toolset;
  /** The earlier messages of the conversation, and the message that is answered. */
  before: readonly ModelMessage[];
  /** The number of messages of the turn whose results are short by now, because there was no room for them. */
  shortened?: number;
  /** From where on the conversation is shown; null: it is not that of the conversation. */
  shown: ShownFrom | null;
  /** When it is given, the text is streamed piece by piece. */
  onText?: ((delta: string) => void) | undefined;
  /** The step of the delegation within which a sub-agent works. */
  parentStep?: number | undefined;
  /** What earlier attempts at the turn stored of this run: it goes on from there. */
  record?: RunRecord | undefined;
  /** The turn that waited, and whose paused run this one continues. */
  continues?: string | undefined;
}

/** How an agent's work ended: with an answer, or paused until approvals are decided. */
export interface RunOutcome {
  /** All text of all steps. */
  text: string;
  /** The text after the last calls. */
  reply: string;
  /** The calls and their results, as the model was shown them, without the last text. */
  messages: ModelMessage[];
  /** Not null: the run waits for approvals. */
  paused: PausedRun | null;
  /** Why the last answer of the model ended; null when the model was not called. */
  finishReason: FinishReason | null;
}

/** Calls of models in one turn, over all its agents. */
export const MAX_MODEL_CALLS = 100;

/**
 * Calls of models that an agent at this depth may still make. The turn's last one is reserved for the answer of the agent of the
 * conversation. Throws MODEL_PROVIDER_ERROR when a sub-agent may make none; its parent survives that.
 */
export function callsLeft({ modelCallsLeft }: Pick<Turn, 'modelCallsLeft'>, depth: number): number {
  if (depth === 0) return modelCallsLeft;
  if (modelCallsLeft > 1) return modelCallsLeft - 1;
  throw fault('MODEL_PROVIDER_ERROR', `The turn has reached its limit of ${MAX_MODEL_CALLS} model calls.`);
}
