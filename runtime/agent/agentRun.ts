import { fault } from '../../core/errors.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { ModelMessage } from '../models/prompt.ts';
import type { Turn } from '../turn/types.ts';
import type { PausedRun } from './paused.ts';
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
  system: string;
  toolset: Toolset;
  /** The earlier messages of the conversation, and the message that is answered. */
  before: readonly ModelMessage[];
  /** When it is given, the text is streamed piece by piece. */
  onText?: ((delta: string) => void) | undefined;
}

/** How an agent's work ended: with an answer, or paused until approvals are decided. */
export interface RunOutcome {
  /** All text of all steps. */
  text: string;
  /** The calls and their results, as the model was shown them, without the last text. */
  messages: ModelMessage[];
  /** Not null: the run waits for approvals. */
  paused: PausedRun | null;
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
