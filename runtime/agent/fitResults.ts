import { cutText } from '../../core/text.ts';
import type { ModelMessage, ToolResultPart } from '../models/prompt.ts';
import { replyReserve } from '../prompt/messages.ts';
import type { Toolset } from './toolset.ts';

/** Results may fill this share of the window: beside them stand the instructions, the tools and what was said before. */
const SHARE = 0.5;
/** Few tokenizers make less of a token: of text, code and JSON alike. */
const CHARACTERS_PER_TOKEN = 3;
const KEPT = 400;
const NOTE = '\n[The rest of this result was left out to make room. Call the tool again if it is needed.]';

const lengthOf = (results: readonly ToolResultPart[]): number =>
  results.reduce((sum, { text }) => sum + text.length, 0);

const shortened = (results: readonly ToolResultPart[], kept: number): ToolResultPart[] =>
  results.map((result) =>
    result.text.length <= kept + NOTE.length ? result : { ...result, text: cutText(result.text, kept) + NOTE },
  );

/**
 * The messages of a turn with their tool results shortened, the oldest first, until all of them together leave room in the model's
 * window. The newest results stay as they are, unless they are too long by themselves: then each keeps as much as any other.
 */
export function fitResults(messages: readonly ModelMessage[], contextWindow: number): ModelMessage[] {
  const most = contextWindow * SHARE * CHARACTERS_PER_TOKEN;
  let length = messages.reduce((sum, message) => sum + (message.role === 'tool' ? lengthOf(message.content) : 0), 0);
  if (length <= most) return [...messages];
  const newest = messages.findLastIndex(({ role }) => role === 'tool');
  return messages.map((message, place) => {
    if (message.role !== 'tool') return message;
    const { content } = message;
    const tooLong = place === newest ? lengthOf(content) > most : length > most;
    if (!tooLong) return message;
    const fitting = shortened(content, place === newest ? Math.max(KEPT, Math.floor(most / content.length)) : KEPT);
    length -= lengthOf(content) - lengthOf(fitting);
    return { ...message, content: fitting };
  });
}

/** Characters that a model reads of a message, files left out. */
function charactersOf({ content }: ModelMessage): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, part) => {
    if ('text' in part) return sum + part.text.length;
    return 'input' in part ? sum + JSON.stringify(part.input).length : sum;
  }, 0);
}

/**
 * What was said before a turn, as much of it as leaves room for what the turn itself has come to: whole turns are left out, the oldest
 * first, and never the message that is answered. It has been fitted to the window before, when there were no results. `beside` is what
 * else the model reads.
 */
export function fitBefore(
  before: readonly ModelMessage[],
  own: readonly ModelMessage[],
  { contextWindow, beside }: { contextWindow: number; beside: string },
): readonly ModelMessage[] {
  const total = (messages: readonly ModelMessage[]) => messages.reduce((sum, one) => sum + charactersOf(one), 0);
  let left = (contextWindow - replyReserve(contextWindow)) * CHARACTERS_PER_TOKEN - beside.length - total(own);
  const answered = before.findLastIndex(({ role }) => role === 'user');
  let first = before.length;
  for (const [place, message] of [...before.entries()].reverse()) {
    left -= charactersOf(message);
    if (left < 0 && place < answered) return before.slice(first);
    if (message.role === 'user') first = place;
  }
  return before;
}

/** What a model is shown in a step: what was said before, and what the turn has come to since. */
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
