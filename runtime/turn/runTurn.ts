import { ApiError, fault, isFinal } from '../../core/errors.ts';
import { failTurn } from '../../db/queries/turns/finishTurn.ts';
import type { AgentRun } from '../agent/agentRun.ts';
import { resumeAgent, runAgent } from '../agent/run.ts';
import { withLearntWindow } from '../models/learntWindows.ts';
import { systemPrompt } from '../prompt/assemble.ts';
import { besideMessage } from '../prompt/beside.ts';
import { historyMessages, userMessage } from '../prompt/messages.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { beginTurn } from './beginTurn.ts';
import { planDeadTurn } from './planDeadTurn.ts';
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

/**
 * Goes on with the turn that holds the conversation, if its process has died: from its stored steps, to its end. It can be called at any
 * time, by any number of processes. It never rejects: what fails is stored with the turn.
 */
export async function resumeTurn(context: WorkspaceRuntime, conversationId: string): Promise<void> {
  const { workspaceId, runtime } = context;
  try {
    const turn = await planDeadTurn(context, conversationId);
    if (turn) await runTurn(turn);
  } catch (error) {
    runtime.logger?.warn({ workspaceId, conversationId, err: error }, 'a turn whose process died came to no reply');
  }
}

/** The whole turn, step by step. */
async function answer(turn: Turn, events: TurnEvents): Promise<TurnReply> {
  const scope = await agentOfTurn(turn);
  const { message, knowledge, history, waiting, messageCount, release } =
    turn.begun ?? (await beginTurn(turn, scope, () => void resumeTurn(turn, turn.conversationId)));
  const { runtime, workspaceId } = turn;
  const learner = { models: runtime.models, workspaceId, now: runtime.clock.now() };
  const model = withLearntWindow(learner, scope.resources.model);
  // What its message decides is read first: calls that were approved are not given up.
  const state = { isResumed: waiting.length > 0 };
  return holding(turn, { release, state }, async () => {
    if (turn.kind === 'message') events.onConversation?.(turn.conversationId);
    if (!model) throw fault('MODEL_PROVIDER_ERROR', MODEL_MISSING);
    const [hits, toolset, runs] = await Promise.all([knowledge, toolsetOf(turn, scope), applyDecisions(turn, waiting)]);
    const system = systemPrompt(scope);
    const { present, memories } = turn;
    const context = { present, context: turn.context, knowledge: hits, memories, waiting: runs.waiting };
    const newest = { ...message, beside: besideMessage(scope, context) };
    const earlier = await historyMessages(history, newest, { model, system, tools: toolset.definitions });
    // What the history has already is not said again.
    const beside =
      earlier.besides.length === 0 ? newest.beside : besideMessage(scope, { ...context, earlier: earlier.besides });
    const before = [...earlier.messages, userMessage(message.text, message.attachments, beside)];
    const parts = { turn, scope, task: '', model, system, beside, knowledge: hits, toolset, before };
    const { resumed } = runs;
    const resuming = { record: turn.record, continues: resumed?.turnId };
    const run: AgentRun = { ...parts, shown: earlier.shown, onText: events.onText, ...resuming };
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
    countedAt: turn.countedAt,
  }).catch(() => {});
}
