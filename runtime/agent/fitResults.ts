import { cutText } from '../../core/text.ts';
import type { ModelMessage, ToolResultPart } from '../models/prompt.ts';
import { replyReserve } from '../prompt/messages.ts';
import type { AgentRun } from './agentRun.ts';

/** The share of the window that results may fill. The rest is for the instructions, the tools and the history. */
const MAX_SHARE = 0.5;
/** With nearly all tokenizers a token has more characters than this, in text, code and JSON. */
const MIN_CHARACTERS_PER_TOKEN = 3;
/** Characters that remain of a shortened result. */
const MIN_KEPT = 400;
const NOTE = '\n[The rest of this result was left out to make room. Call the tool again if it is needed.]';

/** The share of its room that is filled by what is left, when something must be left out. */
const KEPT_OF_FULL = 0.75;

const resultsIn = (message: ModelMessage): number =>
  message.role === 'tool' ? message.content.reduce((sum, { text }) => sum + text.length, 0) : 0;

const shortened = (results: readonly ToolResultPart[], kept: number): ToolResultPart[] =>
  results.map((result) =>
    result.text.length <= kept + NOTE.length ? result : { ...result, text: cutText(result.text, kept) + NOTE },
  );

/**
 * Shortens the tool results of a turn, the oldest first, when all of them together leave no room in the model's window: so many that the
 * next steps have room too, and begin as this one does. Those of the first `before` messages were shortened in an earlier step and stay so.
 * The newest results stay as they are, unless they are too long by themselves: then each is shortened to the same length.
 */
export function fitResults(messages: readonly ModelMessage[], contextWindow: number, before = 0): ModelMessage[] {
  const maxLength = contextWindow * MAX_SHARE * MIN_CHARACTERS_PER_TOKEN;
  const fitted = messages.map((message, place) => (place < before ? withShort(message, MIN_KEPT) : message));
  let length = fitted.reduce((sum, message) => sum + resultsIn(message), 0);
  if (length <= maxLength) return fitted;
  const newest = fitted.findLastIndex(({ role }) => role === 'tool');
  return fitted.map((message, place) => {
    if (message.role !== 'tool') return message;
    const tooLong = place === newest ? resultsIn(message) > maxLength : length > maxLength * KEPT_OF_FULL;
    if (!tooLong) return message;
    const share = Math.max(MIN_KEPT, Math.floor(maxLength / message.content.length));
    const short = withShort(message, place === newest ? share : MIN_KEPT);
    length -= resultsIn(message) - resultsIn(short);
    return short;
  });
}

const withShort = (message: ModelMessage, kept: number): ModelMessage =>
  message.role === 'tool' ? { ...message, content: shortened(message.content, kept) } : message;

/** The number of characters in a message. Files are not counted. */
export function charactersOf({ content }: ModelMessage): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, part) => {
    if ('text' in part) return sum + part.text.length;
    return 'input' in part ? sum + JSON.stringify(part.input).length : sum;
  }, 0);
}

/**
 * The earlier messages that leave room for the messages of the turn itself. Whole turns are left out, the oldest first, and never the
 * message that is answered; so many that the next steps have room too. The history was fitted to the window when the turn began, but then
 * it had no results. `beside` is everything else that the model reads.
 */
export function fitBefore(
  before: readonly ModelMessage[],
  own: readonly ModelMessage[],
  { contextWindow, beside }: { contextWindow: number; beside: string },
): readonly ModelMessage[] {
  const total = (messages: readonly ModelMessage[]) => messages.reduce((sum, one) => sum + charactersOf(one), 0);
  const room = (contextWindow - replyReserve(contextWindow)) * MIN_CHARACTERS_PER_TOKEN - beside.length - total(own);
  if (total(before) <= room) return before;
  // Without results the turn has only begun, and may need no more room than this.
  let left = own.length > 0 ? room * KEPT_OF_FULL : room;
  const answered = before.findLastIndex(({ role }) => role === 'user');
  let first = before.length;
  for (const [place, message] of [...before.entries()].reverse()) {
    left -= charactersOf(message);
    if (left < 0 && place < answered) return before.slice(first);
    if (message.role === 'user') first = place;
  }
  return before;
}

/**
 * The messages that a model is shown in a step: the earlier ones, and those of the turn itself. `contextWindow` is that of the model, or
 * less when the provider finds the request too long for it.
 */
export function fitStep(
  run: Pick<AgentRun, 'before' | 'system' | 'toolset' | 'shortened'> & { model: { contextWindow: number } },
  messages: readonly ModelMessage[],
  contextWindow = run.model.contextWindow,
): readonly ModelMessage[] {
  // The earlier messages were fitted to the model's window when the turn began, with a better count.
  if (messages.length === 0 && contextWindow >= run.model.contextWindow) return run.before;
  const own = fitResults(messages, contextWindow, run.shortened);
  // The next steps leave out what this one does, so that they begin in the same way.
  const short = own.findLastIndex((message, place) => place < messages.length - 1 && message !== messages[place]);
  run.shortened = Math.max(run.shortened ?? 0, short + 1);
  const beside = run.system + JSON.stringify(run.toolset.definitions);
  run.before = fitBefore(run.before, own, { contextWindow, beside });
  return [...run.before, ...own];
}
