import type { StoredAssistantPart } from './modelMessage.ts';
import type { StoredToolOrigin } from './pausedRun.ts';

/** The JSON of turn_steps.state: what another process needs to go on from the step. It is read through `recordOf`. */
export type StoredStepState = ModelStateFormat1 | CallStateFormat1;

/** Of a call of a model that asked for calls of tools. */
export interface ModelStateFormat1 {
  format: 1;
  /** As `writer` of a paused run. */
  writer: string;
  /** What goes back to the model, with the provider's own data. */
  content: readonly StoredAssistantPart[];
  /** Why the arguments of calls are invalid, by the ids of the calls. */
  problems?: Record<string, string>;
  /** The turn that waited, and whose run the agent of the conversation continues. */
  continues?: string;
}

/** Of a call of a tool. */
export interface CallStateFormat1 {
  format: 1;
  /** As the model gave it. */
  callId: string;
  /** Null: there is no such tool. */
  origin: StoredToolOrigin | null;
}
