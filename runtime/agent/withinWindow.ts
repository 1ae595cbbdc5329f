import { ContextTooLong } from '../models/contextLength.ts';
import { learnWindow } from '../models/learntWindows.ts';
import type { ModelMessage } from '../models/prompt.ts';
import type { AgentRun } from './agentRun.ts';
import { charactersOf } from './fitResults.ts';

/** Times that one request is made shorter. Each takes half away at least, where the provider does not say what fits. */
const MAX_CUTS = 4;
/** No model that calls tools has a smaller window. */
const MIN_WINDOW = 256;

const lengthOf = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + charactersOf(message), 0);

/**
 * Asks the model of a run with the messages that fit a window of `tokens`. As long as the provider finds them too long, they are cut to
 * what it says, or to half, and the model is asked again. Returns the answer and the window that it was found with; the process remembers
 * it. Throws what `ask` throws: ContextTooLong when nothing more can be left out.
 */
export async function withinWindow<Answer>(
  { model, scope: { runtime, workspaceId, logger } }: Pick<AgentRun, 'model' | 'scope'>,
  tokens: number,
  {
    fitTo,
    ask,
  }: {
    fitTo: (tokens: number) => readonly ModelMessage[];
    ask: (messages: readonly ModelMessage[]) => Promise<Answer>;
  },
): Promise<{ answer: Answer; tokens: number }> {
  let window = tokens;
  let limit: number | undefined;
  let isCertain = true;
  let messages = fitTo(window);
  for (let cuts = 0; ; cuts += 1) {
    try {
      const answer = await ask(messages);
      if (cuts > 0 && isCertain) {
        // A request that had to be cut below the limit was counted wrongly here: the limit is what the provider said.
        const learnt = limit ?? window;
        learnWindow({ models: runtime.models, workspaceId, now: runtime.clock.now() }, model, learnt);
        logger?.warn(
          { model: model.modelId, assumed: model.contextWindow, window: learnt },
          'the context window of the model is smaller than assumed',
        );
      }
      return { answer, tokens: window };
    } catch (error) {
      if (!(error instanceof ContextTooLong) || cuts === MAX_CUTS) throw error;
      isCertain &&= error.isCertain;
      if (error.limit !== undefined) limit = Math.min(limit ?? error.limit, error.limit);
      const shorter = cutBelow(
        messages,
        fitTo,
        error.limit !== undefined && error.limit < window ? error.limit : window / 2,
      );
      if (!shorter) throw error;
      ({ messages, window } = shorter);
    }
  }
}

/** The messages that fit the largest of `tokens`, a half of it, a quarter …, with which there are fewer. Undefined when there is none. */
function cutBelow(
  messages: readonly ModelMessage[],
  fitTo: (tokens: number) => readonly ModelMessage[],
  tokens: number,
): { messages: readonly ModelMessage[]; window: number } | undefined {
  const length = lengthOf(messages);
  for (let window = Math.max(MIN_WINDOW, Math.floor(tokens)); window >= MIN_WINDOW; window = Math.floor(window / 2)) {
    const fewer = fitTo(window);
    if (lengthOf(fewer) < length) return { messages: fewer, window };
  }
  return undefined;
}
