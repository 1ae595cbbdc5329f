import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { shorten } from '../../core/text.ts';
import { AUTOMATION_USER } from '../../db/queries/automations/completeExecution.ts';
import { hasUnansweredBeside } from '../../db/queries/channels/unanswered.ts';
import { type ConversationRow, findConversation } from '../../db/queries/conversations/conversations.ts';
import type { MessageRow } from '../../db/queries/conversations/messages.ts';
import { isPausedAt, type Pause } from '../../db/queries/conversations/pause.ts';
import { finishTurn, type TurnEnd } from '../../db/queries/turns/finishTurn.ts';
import { storeAnswer } from '../../db/queries/workspaces/idempotencyKeys.ts';
import { hasStorageLeft } from '../../db/queries/workspaces/limits.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { AgentRun, RunOutcome } from '../agent/agentRun.ts';
import { type PendingApproval, waitingCalls } from '../agent/paused.ts';
import { storedPausedRun } from '../agent/storedRun.ts';
import { speak } from '../audio/speak.ts';
import { nextFollowUp } from '../followUps/schedule.ts';
import { storedTranscript } from '../prompt/storedTranscript.ts';
import { transcriptOf } from '../prompt/transcript.ts';
import { replyDelays } from '../replies/delay.ts';
import { deliveriesOf, type OutgoingReply } from '../replies/deliveries.ts';
import { splitReplyOf } from '../replies/splitLong.ts';
import { mayBeReplaced, TurnReplaced } from './replaced.ts';
import { snippetOf } from './snippet.ts';
import type { Turn, TurnReply } from './types.ts';
import type { WaitingRuns } from './waitingRuns.ts';

const MAX_INPUT_SHOWN = 301;

/** The text by which the agent asks for approvals. */
function approvalNotice(pending: readonly PendingApproval[]): string {
  const lines = pending.map(
    ({ toolName, input }) => `- ${toolName} ${shorten(JSON.stringify(input), MAX_INPUT_SHOWN)}`,
  );
  return `Before I go on, a person has to approve:\n${lines.join('\n')}\n\nReply “approve” or “reject”.`;
}

/** Of the calls that ended runs waited for, those that are still asked for, and those that nobody can decide any more. */
function carriedOver(
  calls: readonly string[],
  asked: readonly PendingApproval[],
): { waiting: string[]; dropped: string[] } {
  const still = new Set(asked.map(({ id }) => id));
  return { waiting: calls.filter((id) => still.has(id)), dropped: calls.filter((id) => !still.has(id)) };
}

/** The pause of a conversation that the agent has handed over to a person: it lasts until an operator ends it. */
export function handOverOf({ isHandedOver, runtime }: Turn): Pause | null {
  return isHandedOver ? { by: 'agent', until: null, now: runtime.clock.now() } : null;
}

/** What goes out with the end of the turn, where its conversation is held over a channel. The web chat fetches its replies itself. */
function channelEnd(
  { channel, connectionId }: Turn,
  reply: OutgoingReply,
  messageCount: number | null,
): TurnEnd['channel'] {
  if (connectionId === null) return null;
  return { connectionId, deliveries: channel === 'web_chat' ? [] : deliveriesOf(reply), messageCount };
}

/** Whether the workspace has storage left for a recording. Without any the reply is sent without sound, and the log says why. */
async function mayStoreSpeech({ db, workspaceId, runtime }: Turn): Promise<boolean> {
  const left = await hasStorageLeft(db, workspaceId);
  if (!left) runtime.logger?.warn({ workspaceId }, 'a reply was not spoken: the workspace is at its limit of storage');
  return left;
}

/**
 * Stores what the agent of the conversation came to: its reply, split and spoken as the agent is set, or the paused run with a reply
 * that asks for approvals. `runs` are those that waited when the turn began, and `messageCount` is that of the conversation then. Throws
 * CONVERSATION_NOT_FOUND or UNAVAILABLE when the turn no longer holds its conversation, CONVERSATION_PAUSED when a person has answered
 * meanwhile, and TurnReplaced when a message came that it is given up for; nothing is stored then.
 */
export async function storeReply(
  { turn, model, beside, shown, onText }: AgentRun,
  { text, reply: lastText, messages, paused, finishReason }: RunOutcome,
  { resumed, ended, waiting }: WaitingRuns,
  messageCount: number,
): Promise<TurnReply> {
  const { db, workspaceId, runtime, snapshot, kind, steps, approvals, ui, timeZone } = turn;
  const asked = paused ? waitingCalls(paused) : [];
  let content = text;
  if (asked.length > 0 && turn.approvalsBy === 'user') {
    const notice = approvalNotice(asked);
    const addition = content === '' ? notice : `\n\n${notice}`;
    onText?.(addition);
    content += addition;
  }
  const parts = snapshot.messageSplittingEnabled && !paused ? await splitReplyOf(content, { workspaceId }) : [content];
  const replies = (parts.length > 0 ? parts : ['']).map((part) => ({ id: newId(), content: part }));
  const audio =
    snapshot.audioResponseEnabled && !paused && (await mayStoreSpeech(turn))
      ? await speak(runtime, {
          workspaceId,
          text: content,
          voice: snapshot.ttsVoice,
          model,
          signal: turn.controller.signal,
        })
      : null;
  const calls = paused ? null : transcriptOf(messages);
  const now = runtime.clock.now();
  const contents = replies.map((reply) => reply.content);
  const delaysMs = replyDelays(snapshot, contents, Math.random);
  const isFollowUp = kind === 'follow_up';
  const sent = turn.followUpsSent + (isFollowUp ? 1 : 0);
  const end: TurnEnd = {
    replies,
    ui,
    isFollowUp,
    isPaid: turn.payment !== null,
    isOfAutomation: waiting.length === 0 && turn.externalUserId.startsWith(AUTOMATION_USER),
    now,
    snippet: snippetOf(replies.at(-1)?.content ?? ''),
    audioKey: audio?.key ?? null,
    audioBytes: audio?.bytes ?? null,
    model: model.modelId,
    provider: model.provider,
    usage: steps.usage,
    // A continuation completes a turn that was counted.
    costOps: kind === 'continuation' ? 0 : 1,
    steps: await steps.settle(),
    transcript: storedTranscript({
      messages: calls?.messages ?? [],
      reply: calls && calls.messages.length > 0 && calls.hasText ? lastText : null,
      beside,
      shown,
    }),
    paused: paused && { state: storedPausedRun(paused), approvals },
    // Calls that a removed sub-agent asked for can no longer be decided.
    resumed: resumed && { turnIds: ended.turnIds, ...carriedOver(ended.calls, asked) },
    pause: handOverOf(turn),
    channel: channelEnd(
      turn,
      { messages: replies, delaysMs, ui, audioKey: audio?.key ?? null, now },
      !resumed && mayBeReplaced(turn) ? messageCount : null,
    ),
    followUpAt:
      paused || waiting.length > 0 ? null : nextFollowUp(snapshot, { from: now, after: kind, sent, timeZone }),
  };
  const replyOf = (stored: { conversation: ConversationRow; messages: MessageRow[] }): TurnReply => {
    const last = stored.messages.at(-1);
    if (!last) throw new Error('A turn was stored without a reply.');
    return {
      ...stored,
      last,
      model,
      usage: steps.usage,
      finishReason,
      toolCalls: steps.toolCalls,
      pendingApprovals: [...waiting, ...asked],
      delaysMs,
      durationMs: Math.round(performance.now() - turn.startedAt),
    };
  };
  const reply = (await finish(turn, end, replyOf)) ?? (await finishUnlessReplaced(turn, end, replyOf));
  if (!reply) {
    if (audio) await runtime.files.delete(audio.key).catch(() => {});
    const conversation = await findConversation(db, workspaceId, turn.conversationId);
    if (!conversation) throw fault('CONVERSATION_NOT_FOUND');
    if (isPausedAt(conversation, now)) throw fault('CONVERSATION_PAUSED');
    // This process had no database for so long that another turn took the conversation.
    throw fault('UNAVAILABLE');
  }
  steps.settled(turn.request.agentId);
  if (end.channel && end.channel.deliveries.length > 0) runtime.onDeliveries?.(workspaceId, turn.conversationId);
  return reply;
}

/** Stores the end of the turn, and with it the answer to a request with an Idempotency-Key. Undefined when the conversation is lost. */
async function finish(
  turn: Turn,
  end: TurnEnd,
  replyOf: (stored: { conversation: ConversationRow; messages: MessageRow[] }) => TurnReply,
): Promise<TurnReply | undefined> {
  const {
    db,
    request: { keyed },
  } = turn;
  if (!keyed) {
    const stored = await finishTurn(db, turn, end);
    return stored && replyOf(stored);
  }
  return inTransaction(db, async (trx) => {
    const stored = await finishTurn(trx, turn, end);
    if (!stored) return undefined;
    const reply = replyOf(stored);
    await storeAnswer(trx, keyed.claim, keyed.answerOf(reply));
    return reply;
  });
}

/**
 * Stores the end of a turn that knew another number of messages, since its conversation got some meanwhile: notes that start no turn. Throws
 * TurnReplaced when one of them waits for an answer. Undefined when the conversation is lost, as above.
 */
async function finishUnlessReplaced(
  turn: Turn,
  end: TurnEnd,
  replyOf: (stored: { conversation: ConversationRow; messages: MessageRow[] }) => TurnReply,
): Promise<TurnReply | undefined> {
  if (!end.channel || end.channel.messageCount === null) return undefined;
  if (await hasUnansweredBeside(turn.db, turn)) throw new TurnReplaced();
  return finish(turn, { ...end, channel: { ...end.channel, messageCount: null } }, replyOf);
}
