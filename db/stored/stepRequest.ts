import type { StoredJson } from './modelMessage.ts';

/** Names content in prompt_parts of the agent and the week of the turn. */
export interface StoredPartReference {
  part: string;
}

/** A file, without its content. */
export interface StoredFileNote {
  type: 'file';
  name: string | null;
  mediaType: string;
  bytes: number | null;
}

/** A part of a message that a model was sent. Providers' own data is left out. */
export type StoredRequestPart =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown }
  | StoredFileNote;

/** The result of a call that a model was sent. */
export interface StoredRequestResult {
  toolCallId: string;
  toolName: string;
  text: string;
  isError: boolean;
  files?: StoredFileNote[];
}

/**
 * A message that a model was sent. `beside`: what the service put at the end of the message before. `omitted`: its characters, about, where it is
 * not stored because the request is too large.
 */
export type StoredRequestMessage =
  | { role: 'user' | 'assistant'; content: string | StoredRequestPart[] }
  | { role: 'tool'; content: StoredRequestResult[] }
  | { role: 'user'; beside: string }
  | { role: 'user' | 'assistant' | 'tool'; omitted: number };

/** A tool as the model was told of it. */
export interface StoredRequestTool {
  name: string;
  description: string;
  inputSchema: Record<string, StoredJson | undefined>;
}

/**
 * What a model was sent in a step (turn_steps.request). Most requests begin like an earlier one of the same conversation and week: only what
 * comes after that is stored. What is absent is as in the request that `base` names.
 */
export interface StepRequestFormat1 {
  format: 1;
  /** The step whose first `messages` messages this request begins with. */
  base?: { turnId: string; seq: number; messages: number };
  system?: string | StoredPartReference;
  tools?: readonly StoredRequestTool[] | StoredPartReference;
  settings: StoredRequestSettings;
  /** Those after the ones of `base`. */
  messages: readonly StoredRequestMessage[];
}

/** How the model was asked, beside what it was sent. */
export interface StoredRequestSettings {
  toolChoice: 'auto' | 'none';
  temperature?: number | undefined;
  thinking: { enabled: boolean; effort?: string | undefined };
}

/** turn_steps.request; a later version of the service may have written a format that this one does not know. */
export type StoredStepRequest = StepRequestFormat1 | { format: 'unknown' };
