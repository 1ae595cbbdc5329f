import { ApiError, fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findConversation } from '../../db/queries/conversations/conversations.ts';
import type { HistoryRow } from '../../db/queries/conversations/history.ts';
import { failTurn, finishTurn } from '../../db/queries/turns/finishTurn.ts';
import type { WaitingTurn } from '../../db/queries/turns/turns.ts';
import { type PausedRun, type PendingApproval, waitingCalls } from '../agent/paused.ts';
import { resumeAgent, runAgent } from '../agent/run.ts';
import { StepLog } from '../agent/stepLog.ts';
import type { AgentScope } from '../agent/tool.ts';
import { type AgentRun, MAX_MODEL_CALLS, type RunOutcome, type TurnWork } from '../agent/turnWork.ts';
import { speak } from '../audio/speak.ts';
import { nextFollowUp } from '../followUps/schedule.ts';
import type { KnowledgeHit } from '../knowledge/search.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { systemPrompt } from '../prompt/assemble.ts';
import { historyMessages, type NewestMessage, transcriptOf, userMessage } from '../prompt/messages.ts';
import { replyDelays } from '../replies/delay.ts';
import { splitReply } from '../replies/split.ts';
import { applyDecisions } from './decisions.ts';
import { toolsetOf } from './prepareAgent.ts';
import { snippetOf } from './snippet.ts';
import type { Lease } from './turnRegistry.ts';
import type { TurnContext, TurnListener, TurnPlan, TurnResult } from './types.ts';

/** A turn that holds its conversation and is about to answer. */
export interface Answering {
  scope: AgentScope;
  plan: TurnPlan;
  newest: NewestMessage;
  /** Passages for the newest message. */
  knowledge: Promise<KnowledgeHit[]>;
  /** What was said before. */
  history: HistoryRow[];
  /** The turn of the conversation that waits for approvals. */
  waiting: WaitingTurn | null;
  lease: Lease;
  listener: TurnListener;
  signal: AbortSignal;
  startedAt: number;
}

const MODEL_GONE = 'The AI model of the published version is no longer available. Choose another and publish.';
const INPUT_SHOWN = 300;

/** What the agent says of calls that wait. */
function noticeOf(pending: readonly PendingApproval[]): string {
  const lines = pending.map(({ toolName, input }) => {
    const json = JSON.stringify(input);
    return `- ${toolName} ${json.length <= INPUT_SHOWN ? json : `${json.slice(0, INPUT_SHOWN).toWellFormed()}…`}`;
  });
  return `Before I go on, a person has to approve:\n${lines.join('\n')}\n\nReply “approve” or “reject”.`;
}

/**
 * Lets the agent answer in a conversation that the turn holds, and stores what it says; or what it did until it failed. The
 * conversation is free again either way.
 */
export async function answerTurn(context: TurnContext, answering: Answering): Promise<TurnResult> {
  const { db, runtime } = context;
  const { lease, listener, plan, signal, scope } = answering;
  const steps = new StepLog(db, lease, runtime.clock);
  const work: TurnWork = {
    steps,
    signal,
    approvals: [],
    ui: null,
    autoApprove: plan.request.autoApprove ?? false,
    modelCallsLeft: MAX_MODEL_CALLS,
  };
  return runtime.turns.holding(lease, signal, async () => {
    try {
      if (plan.kind === 'message') listener.onConversation?.(lease.conversationId);
      const { model } = scope.resources;
      if (!model) throw fault('MODEL_PROVIDER_ERROR', MODEL_GONE);
      const outcome = await runOrResume(context, answering, model, work);
      return await storeAnswer(context, answering, model, work, outcome);
    } catch (error) {
      const { code, message } = error instanceof ApiError ? error : fault('INTERNAL_ERROR');
      const unstored = await steps.settle().catch(() => []);
      // When the database is out of reach the lease runs out by itself, and the turn is found to be interrupted.
      await failTurn(db, lease, { code, message, usage: steps.usage, steps: unstored, now: runtime.clock.now() }).catch(
        () => {},
      );
      throw error;
    }
  });
}

async function runOrResume(
  context: TurnContext,
  { scope, plan, newest, knowledge, history, waiting, listener }: Answering,
  model: ModelDescriptor,
  work: TurnWork,
): Promise<RunOutcome> {
  const { instructions, memories, variables, revision, decisions } = plan;
  const paused = (waiting?.paused ?? null) as PausedRun | null;
  const [hits, toolset, resumption] = await Promise.all([
    knowledge,
    toolsetOf(scope, { work, variables, revision, path: [scope.agentId] }),
    paused && applyDecisions(context, paused, decisions, plan.kind === 'message'),
  ]);
  const system = systemPrompt(scope, { instructions, memories, knowledge: hits, talksToPeople: true });
  const said = await historyMessages(history, { model, system, tools: toolset.definitions, newest });
  const before = [...said, userMessage(newest)];
  const run: AgentRun = { scope, depth: 0, task: '', model, system, toolset, before, work, onText: listener.onText };
  return paused && resumption ? resumeAgent(run, paused, resumption) : runAgent(run);
}

async function storeAnswer(
  context: TurnContext,
  { plan, lease, listener, waiting, signal, startedAt }: Answering,
  model: ModelDescriptor,
  { steps, ui, approvals }: TurnWork,
  { text, messages, paused }: RunOutcome,
): Promise<TurnResult> {
  const { db, workspaceId, runtime } = context;
  const { snapshot, kind, followUpsSent, timeZone } = plan;
  const pendingApprovals = paused ? waitingCalls(paused) : [];
  let content = text;
  if (paused) {
    const notice = noticeOf(pendingApprovals);
    const addition = content === '' ? notice : `\n\n${notice}`;
    listener.onText?.(addition);
    content += addition;
  }
  const contents = snapshot.messageSplittingEnabled && !paused ? splitReply(content) : [content];
  const replies = (contents.length > 0 ? contents : ['']).map((part) => ({ id: newId(), content: part }));
  const audio =
    snapshot.audioResponseEnabled && !paused
      ? await speak(runtime, { workspaceId, text: content, voice: snapshot.ttsVoice, model, signal })
      : null;
  const now = runtime.clock.now();
  const isFollowUp = kind === 'follow_up';
  const sent = followUpsSent + (isFollowUp ? 1 : 0);
  const stored = await finishTurn(db, lease, {
    replies,
    ui,
    isFollowUp,
    now,
    snippet: snippetOf(replies.at(-1)?.content ?? ''),
    audioKey: audio?.key ?? null,
    model: model.modelId,
    provider: model.provider,
    usage: steps.usage,
    // What a person decided later completes a turn that has been counted.
    costOps: kind === 'continuation' ? 0 : 1,
    steps: await steps.settle(),
    transcript: paused ? null : transcriptOf(messages),
    paused: paused && { state: paused, approvals },
    // What a sub-agent that is gone had asked for is nobody's any more.
    resumed: waiting && { turnId: waiting.id, waiting: pendingApprovals.map(({ id }) => id) },
    followUpAt: paused ? null : nextFollowUp(snapshot, { from: now, after: kind, sent, timeZone }),
  });
  if (!stored) {
    if (audio) await runtime.files.delete(audio.key).catch(() => {});
    // Deleted meanwhile; or this process was cut off from the database for so long that another took the conversation.
    if (await findConversation(db, workspaceId, lease.conversationId)) throw fault('UNAVAILABLE');
    throw fault('CONVERSATION_NOT_FOUND');
  }
  const last = stored.messages.at(-1);
  if (!last) throw new Error('A turn was stored without a reply.');
  return {
    ...stored,
    last,
    model,
    pendingApprovals,
    usage: steps.usage,
    toolCalls: steps.toolCalls,
    delaysMs: replyDelays(
      snapshot,
      replies.map((reply) => reply.content),
      Math.random,
    ),
    durationMs: Math.round(performance.now() - startedAt),
  };
}
