import type { ModelMessage, ToolResultPart } from '../models/prompt.ts';

/** Results may fill this share of the window: beside them stand the instructions, the tools and what was said before. */
const SHARE = 0.5;
/** Few tokenizers make less of a token: of text, code and JSON alike. */
const CHARACTERS_PER_TOKEN = 3;
const KEPT = 400;
const NOTE = '\n[The rest of this result was left out to make room. Call the tool again if it is needed.]';

const lengthOf = (results: readonly ToolResultPart[]): number =>
  results.reduce((sum, { text }) => sum + text.length, 0);

const short = (result: ToolResultPart): ToolResultPart =>
  result.text.length <= KEPT + NOTE.length
    ? result
    : { ...result, text: result.text.slice(0, KEPT).toWellFormed() + NOTE };

/**
 * The messages of a turn with their tool results shortened, the oldest first, until all of them together leave room in the model's
 * window. The newest results stay as they are.
 */
export function fitResults(messages: readonly ModelMessage[], contextWindow: number): ModelMessage[] {
  const most = contextWindow * SHARE * CHARACTERS_PER_TOKEN;
  let length = messages.reduce((sum, message) => sum + (message.role === 'tool' ? lengthOf(message.content) : 0), 0);
  if (length <= most) return [...messages];
  const newest = messages.findLastIndex(({ role }) => role === 'tool');
  return messages.map((message, place) => {
    if (message.role !== 'tool' || place === newest || length <= most) return message;
    const content = message.content.map(short);
    length -= lengthOf(message.content) - lengthOf(content);
    return { ...message, content };
  });
}
