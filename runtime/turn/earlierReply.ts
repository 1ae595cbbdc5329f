import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../../core/deadline.ts';
import { fault } from '../../core/errors.ts';
import { findStoredReply, findTurnProgress, type StoredReply } from '../../db/queries/turns/turnReply.ts';
import { storeAnswer } from '../../db/queries/workspaces/idempotencyKeys.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { resumeTurn } from './runTurn.ts';
import type { KeyedTurn, TurnReply } from './types.ts';

const FIRST_WAIT_MS = 25;
const MAX_WAIT_MS = 250;

/**
 * The reply of the turn that an earlier attempt at a request with an Idempotency-Key began, whose process died: the turn is gone on with, here or
 * by another process, and its end is waited for. The answer is kept then. `onText` gets the whole text before. Undefined when there is
 * no such turn, or it ended without a reply: then the message is to be answered. Throws AGENT_TIMEOUT after `timeoutMs`, and UNAVAILABLE.
 */
export async function earlierReply(
  context: WorkspaceRuntime,
  { claim, answerOf }: KeyedTurn,
  { timeoutMs, onText }: { timeoutMs: number; onText?: (text: string) => void },
): Promise<TurnReply | undefined> {
  const { db, workspaceId, runtime } = context;
  const turnId = claim.begun?.turnId;
  if (turnId === undefined) return undefined;
  const controller = new AbortController();
  const seconds = Math.round(timeoutMs / 1000);
  const timedOut = () => controller.abort(fault('AGENT_TIMEOUT', `The agent did not finish within ${seconds} s.`));
  const timer = setTimeout(timedOut, timeoutMs);
  try {
    // A process that stops ends those who wait, as it ends turns.
    await runtime.turns.run(controller, () => endOf(context, turnId, controller.signal));
  } finally {
    clearTimeout(timer);
  }
  const stored = await findStoredReply(db, workspaceId, turnId);
  if (!stored) return undefined;
  const reply = replyOf(stored);
  onText?.(stored.messages.map(({ content }) => content).join('\n\n'));
  await storeAnswer(db, claim, answerOf(reply));
  return reply;
}

/** Waits until the turn has ended. */
async function endOf(context: WorkspaceRuntime, turnId: string, signal: AbortSignal): Promise<void> {
  const { db, workspaceId } = context;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    signal.throwIfAborted();
    const progress = await findTurnProgress(db, workspaceId, turnId);
    if (progress?.status !== 'running') return;
    if (progress.isDead) void resumeTurn(context, progress.conversationId);
    await untilAborted(sleep(waitMs), signal);
  }
}

function replyOf({ turn, conversation, messages, calls, finishReason, pending }: StoredReply): TurnReply {
  const last = messages.at(-1);
  if (!last) throw new Error('A reply has a message.');
  return {
    conversation,
    messages,
    last,
    model: { modelId: last.model ?? '' },
    usage: { inputTokens: turn.input_tokens, outputTokens: turn.output_tokens, costUsd: turn.cost_usd },
    finishReason: finishReason as TurnReply['finishReason'],
    toolCalls: calls.map(({ name, duration_ms, status }) => ({
      name,
      durationMs: duration_ms ?? 0,
      ok: status === 'done',
    })),
    pendingApprovals: pending.map(({ id, tool_name: toolName, input, requested_at }) => ({
      id,
      toolName,
      input,
      requestedAt: requested_at.toISOString(),
    })),
    delaysMs: [],
    durationMs: (turn.ended_at?.getTime() ?? turn.started_at.getTime()) - turn.started_at.getTime(),
  };
}
