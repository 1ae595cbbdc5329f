import { ApiError, fault, isFinal } from '../../core/errors.ts';
import { failTurn } from '../../db/queries/turns/finishTurn.ts';
import type { AgentRun } from '../agent/agentRun.ts';
import { resumeAgent, runAgent } from '../agent/run.ts';
import { systemPrompt } from '../prompt/assemble.ts';
import { historyMessages, userMessage } from '../prompt/messages.ts';
import { beginTurn } from './beginTurn.ts';
import { agentOfTurn, toolsetOf } from './prepareAgent.ts';
import { mayBeReplaced, TurnReplaced } from './replaced.ts';
import { handOverOf, storeReply } from './storeReply.ts';
import { uncountTurn } from './takeConversation.ts';
import type { Turn, TurnEvents, TurnReply } from './types.ts';
import { applyDecisions } from './waitingRuns.ts';

const MODEL_MISSING = 'The AI model of the published version is no longer available. Choose another and publish.';

/**
 * Runs a planned turn within its time, once, and stores its reply. Throws the error that `planTurn` returned, ATTACHMENT_TOO_LARGE,
 * UNSUPPORTED_ATTACHMENT, OPERATION_LIMIT_REACHED, CLIENT_NOT_ACTIVE, AGENT_TIMEOUT, MODEL_PROVIDER_ERROR, UNAVAILABLE, TurnReplaced, and the errors of the
 * conversation's state when that changed since (CONVERSATION_NOT_FOUND, CONVERSATION_ENDED, CONVERSATION_PAUSED). Once the user's
 * message is stored it stays, and the conversation is free again, whatever happens.
 */
export async function runTurn(planned: Turn | ApiError, events: TurnEvents = {}): Promise<TurnReply> {
  if (planned instanceof ApiError) throw planned;
  const { runtime, controller, request } = planned;
  return runtime.turns.run(controller, async () => {
    const seconds = Math.round(request.timeoutMs / 1000);
    const timer = setTimeout(
      () => controller.abort(fault('AGENT_TIMEOUT', `The agent did not finish within ${seconds} s.`)),
      request.timeoutMs,
    );
    try {
      return await answer(planned, events);
    } catch (error) {
      await uncountTurn(planned);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  });
}

/** The whole turn, step by step. */
async function answer(turn: Turn, events: TurnEvents): Promise<TurnReply> {
  const scope = await agentOfTurn(turn);
  const { message, knowledge, history, waiting, messageCount, release } = turn.begun ?? (await beginTurn(turn, scope));
  const { model } = scope.resources;
  // What its message decides is read first: calls that were approved are not given up.
  const state = { isResumed: waiting.length > 0 };
  return holding(turn, { release, state }, async () => {
    if (turn.kind === 'message') events.onConversation?.(turn.conversationId);
    if (!model) throw fault('MODEL_PROVIDER_ERROR', MODEL_MISSING);
    const [hits, toolset, runs] = await Promise.all([knowledge, toolsetOf(turn, scope), applyDecisions(turn, waiting)]);
    const system = systemPrompt(scope, { knowledge: hits, memories: turn.memories, waiting: runs.waiting });
    const earlier = await historyMessages(history, message, { model, system, tools: toolset.definitions });
    const before = [...earlier, userMessage(message.text, message.attachments)];
    const run: AgentRun = { turn, scope, task: '', model, system, toolset, before, onText: events.onText };
    const { resumed } = runs;
    state.isResumed = resumed !== null;
    const outcome = resumed ? await resumeAgent(run, resumed.paused, resumed.resumption) : await runAgent(run);
    return storeReply(run, outcome, runs, messageCount);
  });
}

/** Keeps the turn's conversation while the work is done, and then frees it. When the work fails, the turn is stored as failed. */
async function holding<T>(
  turn: Turn,
  { release, state }: { release: () => void; state: { isResumed: boolean } },
  work: () => Promise<T>,
): Promise<T> {
  try {
    const { controller, runtime } = turn;
    const held = async () => {
      try {
        return await work();
      } catch (error) {
        const cause = controller.signal.reason instanceof TurnReplaced ? controller.signal.reason : error;
        await storeFailure(turn, cause);
        throw cause;
      }
    };
    return await runtime.turns.holding(turn, controller, held, () => {
      if (!state.isResumed && mayBeReplaced(turn)) controller.abort(new TurnReplaced());
    });
  } finally {
    release();
  }
}

async function storeFailure(turn: Turn, error: unknown): Promise<void> {
  const { db, steps, runtime } = turn;
  const failure = error instanceof ApiError ? error : fault('INTERNAL_ERROR');
  const { code, message } = error instanceof TurnReplaced ? error : failure;
  const released = isFinal(failure) ? undefined : turn.request.keyed?.claim;
  const unstored = await steps.settle().catch(() => []);
  // When the database is out of reach, the lease runs out by itself, and the turn is later marked as interrupted.
  await failTurn(db, turn, {
    code,
    message,
    usage: steps.usage,
    steps: unstored,
    now: runtime.clock.now(),
    pause: handOverOf(turn),
    released,
    isPaid: turn.payment !== null,
  }).catch(() => {});
}
