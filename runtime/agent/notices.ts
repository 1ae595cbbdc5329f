import type { ModelAnswer } from '../models/call.ts';
import { MAX_MODEL_CALLS } from './agentRun.ts';

/** How a run ended. */
export interface RunEnd {
  answer: Pick<ModelAnswer, 'finishReason' | 'text' | 'isOnlyThoughts'>;
  /** The run has nothing to show: no text, and no components. */
  isSilent: boolean;
  /** Bytes of the limit that the answer, or the texts of all steps together, exceeded. */
  exceededBytes: number | undefined;
  /** The limit that made the step the last one, before the model was done. */
  reachedLimit: 'steps' | 'calls' | undefined;
}

/** Steps of one agent for one message. The last one must be an answer. */
export const MAX_STEPS = 24;

/** Why an answer with text may not be whole. */
const ENDS: Partial<Record<ModelAnswer['finishReason'], string>> = {
  length: "The answer ends here: it reached the model's limit of length.",
  'content-filter': 'The answer ends here: the provider of the model withheld the rest.',
  refusal: 'The answer ends here: the model refused to go on.',
};
/** Why there is no text. */
const SILENT_ENDS: Partial<Record<ModelAnswer['finishReason'], string>> = {
  length: ENDS.length ?? '',
  'content-filter': 'The provider of the model withheld the answer.',
  refusal: 'The model refused to answer.',
};
const ONLY_THOUGHTS =
  'The model used all of its tokens for thinking, and none were left for an answer. Ask for less at once, or lower its thinking.';
const NO_ANSWER = 'The model gave no answer, also when it was asked again. Send the message again.';
const CONTINUE = 'Its work may not be complete: send a message to continue it.';
const LIMITS = {
  steps: `The agent stopped at its limit of ${MAX_STEPS} steps. ${CONTINUE}`,
  calls: `The agent stopped: the turn has reached its limit of ${MAX_MODEL_CALLS} model calls. ${CONTINUE}`,
};
const bytesOf = new Intl.NumberFormat('en');

/** The sentence, in brackets, that stands at the end of a reply that may not be whole, or in place of none; undefined for any other reply. */
export function noticeOf({ answer, isSilent, exceededBytes, reachedLimit }: RunEnd): string | undefined {
  const { finishReason, text, isOnlyThoughts } = answer;
  const size =
    exceededBytes === undefined
      ? undefined
      : `The answer ends here: it is larger than ${bytesOf.format(exceededBytes)} bytes, the limit of this service.`;
  const thoughts = finishReason === 'length' && isOnlyThoughts ? ONLY_THOUGHTS : undefined;
  const end = text.trim() === '' ? SILENT_ENDS[finishReason] : ENDS[finishReason];
  const sentence =
    size ?? thoughts ?? end ?? (reachedLimit && LIMITS[reachedLimit]) ?? (isSilent ? NO_ANSWER : undefined);
  return sentence && `[${sentence}]`;
}
