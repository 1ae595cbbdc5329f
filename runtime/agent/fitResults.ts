import { cutText } from '../../core/text.ts';
import type { ModelMessage, ToolResultPart } from '../models/prompt.ts';
import { replyReserve } from '../prompt/messages.ts';
import type { Toolset } from './toolset.ts';

/** The share of the window that results may fill. The rest is for the instructions, the tools and the history. */
const MAX_SHARE = 0.5;
/** With nearly all tokenizers a token has more characters than this, in text, code and JSON. */
const MIN_CHARACTERS_PER_TOKEN = 3;
/** Characters that remain of a shortened result. */
const MIN_KEPT = 400;
const NOTE = '\n[The rest of this result was left out to make room. Call the tool again if it is needed.]';

const lengthOf = (results: readonly ToolResultPart[]): number =>
  results.reduce((sum, { text }) => sum + text.length, 0);

const shortened = (results: readonly ToolResultPart[], kept: number): ToolResultPart[] =>
  results.map((result) =>
    result.text.length <= kept + NOTE.length ? result : { ...result, text: cutText(result.text, kept) + NOTE },
  );

/**
 * Shortens the tool results of a turn, the oldest first, until all of them together leave room in the model's window. The newest results
 * stay as they are, unless they are too long by themselves: then each is shortened to the same length.
 */
export function fitResults(messages: readonly ModelMessage[], contextWindow: number): ModelMessage[] {
  const maxLength = contextWindow * MAX_SHARE * MIN_CHARACTERS_PER_TOKEN;
  let length = messages.reduce((sum, message) => sum + (message.role === 'tool' ? lengthOf(message.content) : 0), 0);
  if (length <= maxLength) return [...messages];
  const newest = messages.findLastIndex(({ role }) => role === 'tool');
  return messages.map((message, place) => {
    if (message.role !== 'tool') return message;
    const { content } = message;
    const tooLong = place === newest ? lengthOf(content) > maxLength : length > maxLength;
    if (!tooLong) return message;
    const fitting = shortened(
      content,
      place === newest ? Math.max(MIN_KEPT, Math.floor(maxLength / content.length)) : MIN_KEPT,
    );
    length -= lengthOf(content) - lengthOf(fitting);
    return { ...message, content: fitting };
  });
}

/** The number of characters in a message. Files are not counted. */
function charactersOf({ content }: ModelMessage): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, part) => {
    if ('text' in part) return sum + part.text.length;
    return 'input' in part ? sum + JSON.stringify(part.input).length : sum;
  }, 0);
}

/**
 * The earlier messages that leave room for the messages of the turn itself. Whole turns are left out, the oldest first, and never the
 * message that is answered. The history was fitted to the window when the turn began, but then it had no results. `beside` is
 * everything else that the model reads.
 */
export function fitBefore(
  before: readonly ModelMessage[],
  own: readonly ModelMessage[],
  { contextWindow, beside }: { contextWindow: number; beside: string },
): readonly ModelMessage[] {
  const total = (messages: readonly ModelMessage[]) => messages.reduce((sum, one) => sum + charactersOf(one), 0);
  let left = (contextWindow - replyReserve(contextWindow)) * MIN_CHARACTERS_PER_TOKEN - beside.length - total(own);
  const answered = before.findLastIndex(({ role }) => role === 'user');
  let first = before.length;
  for (const [place, message] of [...before.entries()].reverse()) {
    left -= charactersOf(message);
    if (left < 0 && place < answered) return before.slice(first);
    if (message.role === 'user') first = place;
  }
  return before;
}

/** The messages that a model is shown in a step: the earlier ones, and those of the turn itself. */
export function fitStep(
  run: { before: readonly ModelMessage[]; model: { contextWindow: number }; system: string; toolset: Toolset },
  messages: readonly ModelMessage[],
): readonly ModelMessage[] {
  if (messages.length === 0) return run.before;
  const { contextWindow } = run.model;
  const own = fitResults(messages, contextWindow);
  const beside = run.system + JSON.stringify(run.toolset.definitions);
  return [...fitBefore(run.before, own, { contextWindow, beside }), ...own];
}
