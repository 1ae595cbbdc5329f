import type { ModelAnswer } from '../models/call.ts';
import { MAX_MODEL_CALLS } from './agentRun.ts';

/** Why the last answer of a run may not be whole. */
export interface RunEnd {
  finishReason: ModelAnswer['finishReason'];
  /** Bytes of the limit that the answer, or the texts of all steps together, exceeded. */
  exceededBytes: number | undefined;
  /** The limit that made the step the last one, before the model was done. */
  reachedLimit: 'steps' | 'calls' | undefined;
}

/** Steps of one agent for one message. The last one must be an answer. */
export const MAX_STEPS = 24;

const ENDS: Partial<Record<ModelAnswer['finishReason'], string>> = {
  length: "The answer ends here: it reached the model's limit of length.",
  'content-filter': 'The answer ends here: the provider of the model withheld the rest.',
};
const CONTINUE = 'Its work may not be complete: send a message to continue it.';
const LIMITS = {
  steps: `The agent stopped at its limit of ${MAX_STEPS} steps. ${CONTINUE}`,
  calls: `The agent stopped: the turn has reached its limit of ${MAX_MODEL_CALLS} model calls. ${CONTINUE}`,
};
const bytesOf = new Intl.NumberFormat('en');

/** The sentence, in brackets, that stands at the end of a reply that may not be whole; undefined for any other reply. */
export function noticeOf({ finishReason, exceededBytes, reachedLimit }: RunEnd): string | undefined {
  const size =
    exceededBytes === undefined
      ? undefined
      : `The answer ends here: it is larger than ${bytesOf.format(exceededBytes)} bytes, the limit of this service.`;
  const sentence = size ?? ENDS[finishReason] ?? (reachedLimit && LIMITS[reachedLimit]);
  return sentence && `[${sentence}]`;
}
