import { cutText } from '../../core/text.ts';
import { type ModelMessage, type ToolResultPart, withoutProviderParts } from '../models/prompt.ts';
import { NOT_KEPT, withoutToolFiles } from '../models/toolFiles.ts';

/** Characters of a result, once it is shortened. The model can call the tool again. */
const MAX_RESULT_SHOWN = 4_000;
const MIN_RESULT_SHOWN = 400;
/** Characters of all results of a turn, and of its calls and results together as JSON. */
const MAX_RESULTS_SHOWN = 40_000;
const MAX_TRANSCRIPT_SHOWN = 60_000;

/** The calls of a turn as later turns are shown them. */
export interface TurnCalls {
  messages: ModelMessage[];
  /** Whether the text beside the calls is among them. Else it is in the reply only. */
  hasText: boolean;
}

/**
 * The calls of a turn in the form in which they are stored: readable for every model, with the text beside them. Results are whole, as
 * the model was shown them, unless all of them together are very long. Of very many calls only the last ones are kept, and then without
 * the text.
 */
export function transcriptOf(messages: readonly ModelMessage[]): TurnCalls {
  const whole = withResultsOf(withoutToolFiles(withoutProviderParts(messages), NOT_KEPT), MAX_RESULTS_SHOWN);
  const kept = lastWithin(whole, MAX_TRANSCRIPT_SHOWN);
  if (kept.length === whole.length) return { messages: kept, hasText: true };
  return { messages: lastWithin(whole.map(withoutText), MAX_TRANSCRIPT_SHOWN), hasText: false };
}

/**
 * The calls of a turn as later turns are shown them, which have at most `most` characters as JSON: whole, if they may be, else with shorter
 * results. Nothing, when the calls themselves are longer.
 */
export function shownWithin(
  messages: readonly ModelMessage[],
  { json, isWhole, most }: { json: string; isWhole: boolean; most: number },
): { messages: readonly ModelMessage[]; json: string } | undefined {
  if (isWhole && json.length <= most) return { messages, json };
  for (const length of [MAX_RESULT_SHOWN, MIN_RESULT_SHOWN]) {
    const short = withResultsOf(messages, length);
    const shortJson = JSON.stringify(short);
    if (shortJson.length <= most) return { messages: short, json: shortJson };
  }
  return undefined;
}

/** Shortens each result to `most` characters, and to less when all together exceed MAX_RESULTS_SHOWN. */
function withResultsOf(messages: readonly ModelMessage[], most: number): ModelMessage[] {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  const total = results.reduce((sum, { text }) => sum + Math.min(text.length, most), 0);
  const share = Math.max(MIN_RESULT_SHOWN, Math.floor(MAX_RESULTS_SHOWN / Math.max(1, results.length)));
  const limit = total <= MAX_RESULTS_SHOWN ? most : Math.min(most, share);
  return messages.map((message) =>
    message.role === 'tool' ? { ...message, content: message.content.map((one) => cut(one, limit)) } : message,
  );
}

function cut(result: ToolResultPart, most: number): ToolResultPart {
  if (result.text.length <= most) return result;
  return { ...result, text: `${cutText(result.text, most)}\n[cut off]` };
}

/** Calls without the text beside them. */
export function withoutText(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  return { ...message, content: message.content.filter(({ type }) => type === 'tool-call') };
}

/** The last steps that have at most `most` characters as JSON. */
function lastWithin(messages: readonly ModelMessage[], most: number): ModelMessage[] {
  let left = most;
  let first = messages.length;
  for (const [place, message] of [...messages.entries()].reverse()) {
    left -= JSON.stringify(message).length;
    if (left < 0) break;
    if (message.role === 'assistant') first = place;
  }
  return messages.slice(first);
}
