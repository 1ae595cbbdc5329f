import { ApiError } from '../../core/errors.ts';
import { findChannelConnection } from '../../db/queries/channels/connections.ts';
import { selectIdentities } from '../../db/queries/channels/endUsers.ts';
import {
  findInboundConversation,
  findLostTurn,
  type InboundConversation,
  selectUnanswered,
  type UnansweredRow,
  updateForRetry,
  updateSettled,
} from '../../db/queries/channels/unanswered.ts';
import { findConversation } from '../../db/queries/conversations/conversations.ts';
import { isPausedAt } from '../../db/queries/conversations/pause.ts';
import { INTERRUPTED } from '../../db/queries/turns/deadTurns.ts';
import { providerOf } from '../../integrations/channels/providers.ts';
import { planTurn } from '../../runtime/turn/planTurn.ts';
import { TurnReplaced } from '../../runtime/turn/replaced.ts';
import { runTurn } from '../../runtime/turn/runTurn.ts';
import { TurnNotDue } from '../../runtime/turn/takeConversation.ts';
import type { Turn } from '../../runtime/turn/types.ts';
import type { WorkspaceContext } from '../context.ts';
import { channelAccount } from './connections.ts';
import { dropFiles } from './inboundFiles.ts';
import { beginLiveReply } from './live.ts';

/** No caller waits for these turns. */
const TURN_MS = 300_000;
/** A turn is begun anew so often for messages that join it, within this time; then they make the next turn. */
const MAX_REPLACED = 5;
const REPLACED_MS = 60_000;
/** A conversation that another turn holds is looked at again after this time. */
const HELD_MS = 2_000;
/** Milliseconds after each failed attempt; the attempt after the last of them is the last one. */
const BACK_OFF_MS = [5_000, 60_000];
/** The provider has this long to take that an answer is being written. */
const TYPING_MS = 5_000;
const UNKNOWN_OUTCOME = 'A tool had begun: what it did is not known, so nothing was tried again.';

/** Codes of failures that another attempt would have too. */
const FINAL: ReadonlySet<string> = new Set([
  'OPERATION_LIMIT_REACHED',
  'CLIENT_NOT_ACTIVE',
  'AGENT_NOT_FOUND',
  'AGENT_NOT_PUBLISHED',
  'CONVERSATION_NOT_FOUND',
  'CONVERSATION_ENDED',
  'MISSING_VARIABLE',
]);

/** In how many milliseconds the conversation is to be looked at again; undefined when nothing waits in it. */
export type NextLook = number | undefined;

/**
 * Answers what a person said in a conversation, by one turn. Messages that come meanwhile join it, as long as it has called no tool. It
 * can be run again at any time, and by several processes at once: each message is answered once, and one turn runs at a time. A failure
 * is tried again, unless a tool had begun; the last one is kept with the messages. Throws when the process stops, or without a database.
 */
export async function answerPerson(context: WorkspaceContext, conversationId: string): Promise<NextLook> {
  const startedAt = performance.now();
  let replaced = 0;
  for (;;) {
    const isEarly = performance.now() - startedAt < REPLACED_MS;
    const outcome = await answerOnce(context, conversationId, isEarly && replaced < MAX_REPLACED);
    if (outcome === 'replaced') replaced += 1;
    else if (outcome !== 'answered') return outcome;
    // What came after a tool was called makes the next turn. Others have theirs first when this took long.
    else if (!isEarly) return 0;
    else replaced = 0;
  }
}

async function answerOnce(
  context: WorkspaceContext,
  conversationId: string,
  isReplaceable: boolean,
): Promise<NextLook | 'replaced' | 'answered'> {
  const { db, workspaceId, clock } = context;
  const conversation = await findInboundConversation(db, workspaceId, conversationId);
  const rows = await selectUnanswered(db, workspaceId, conversationId);
  if (rows.length === 0) return undefined;
  // First: what a turn answers now is not to be settled behind its back.
  if (conversation?.is_held) return HELD_MS;
  const now = clock.now();
  const barred = barredBy(conversation, now);
  if (!conversation || barred) {
    await settle(context, rows, { status: 'ignored', code: barred ?? 'CONVERSATION_NOT_FOUND' });
    return undefined;
  }
  const left = await noteLost(context, rows);
  if (left.length < rows.length) return 0;
  const dueMs = Math.max(...rows.map(({ due_at }) => due_at.getTime())) - now.getTime();
  if (dueMs > 0) return dueMs;
  return runOnce(context, conversationId, { conversation, rows, isReplaceable });
}

/** Why what a person said is history only; undefined when it is to be answered. */
function barredBy(conversation: InboundConversation | undefined, now: Date): string | undefined {
  if (!conversation) return 'CONVERSATION_NOT_FOUND';
  if (!conversation.is_connected) return 'CONNECTION_INACTIVE';
  if (conversation.is_ended) return 'CONVERSATION_ENDED';
  return isPausedAt(conversation, now) ? 'CONVERSATION_PAUSED' : undefined;
}

/**
 * Settles the messages of a turn that came to nothing and whose process did not say so, where they must not be tried again: another process went
 * on with it, and it failed there. Returns the rest, which is free again.
 */
async function noteLost(context: WorkspaceContext, rows: readonly UnansweredRow[]): Promise<readonly UnansweredRow[]> {
  const { db, workspaceId, clock } = context;
  const turnId = rows.findLast(({ turn_id }) => turn_id !== null)?.turn_id ?? null;
  if (turnId === null) return rows;
  const died = rows.filter(({ turn_id }) => turn_id !== null);
  const lost = await findLostTurn(db, workspaceId, turnId);
  const code = lost?.code ?? INTERRUPTED;
  const hasBegun = lost?.hasCalledTools === true;
  const attempts = Math.max(...died.map((row) => row.attempts));
  if (hasBegun || code === INTERRUPTED || FINAL.has(code) || attempts >= BACK_OFF_MS.length) {
    const message = [lost?.message ?? 'The process ended while it answered.', ...(hasBegun ? [UNKNOWN_OUTCOME] : [])];
    await settle(context, died, { status: 'failed', code, message: message.join(' ') });
    return rows.filter((row) => !died.includes(row));
  }
  const retry = { dueAt: clock.now(), counts: true, code, message: lost?.message ?? null, turnIds: turnsOf(died) };
  await updateForRetry(
    db,
    workspaceId,
    died.map(({ id }) => id),
    retry,
  );
  return rows;
}

interface Answering {
  conversation: InboundConversation;
  rows: readonly UnansweredRow[];
  isReplaceable: boolean;
}

async function runOnce(
  context: WorkspaceContext,
  conversationId: string,
  { conversation, rows, isReplaceable }: Answering,
): Promise<NextLook | 'replaced' | 'answered'> {
  const { db, workspaceId, runtime } = context;
  const request = {
    agentId: conversation.agent_id,
    conversationId,
    content: '',
    attachments: [],
    externalUserId: undefined,
    isTest: false,
    metadata: undefined,
    timeoutMs: TURN_MS,
    inbound: {
      messages: rows.map(({ message_id, content, model_text, files, received_at }) => ({
        id: message_id,
        content,
        modelText: model_text,
        files: files ?? [],
        receivedAt: received_at,
      })),
      isReplaceable,
    },
  };
  const isWebChat = conversation.channel_type === 'web_chat';
  let turn: Turn | undefined;
  try {
    const planned = await planTurn({ db, workspaceId, runtime }, request);
    if (planned instanceof ApiError) throw planned;
    turn = planned;
    if (!isWebChat) void showTyping(context, conversationId, conversation, rows);
    const live = isWebChat ? await beginLiveReply({ ...context, ...loggerOf(context) }, conversationId) : undefined;
    try {
      await runTurn(turn, live ? { onText: (delta) => live.onText(delta) } : {});
    } finally {
      await live?.end();
    }
    await dropFiles(
      runtime,
      rows.flatMap(({ files }) => files ?? []),
    );
    return 'answered';
  } catch (error) {
    if (error instanceof TurnReplaced) return 'replaced';
    if (error instanceof TurnNotDue) return HELD_MS;
    return noteFailure(context, rows, { error, turn });
  }
}

function loggerOf({ runtime }: WorkspaceContext) {
  return runtime.logger ? { logger: runtime.logger } : {};
}

/** Notes how an attempt failed, and whether there is another one. */
async function noteFailure(
  context: WorkspaceContext,
  rows: readonly UnansweredRow[],
  { error, turn }: { error: unknown; turn: Turn | undefined },
): Promise<NextLook> {
  const { db, workspaceId, clock, runtime } = context;
  const hasBegun = turn?.steps.hasCalledTools === true;
  const ids = rows.map(({ id }) => id);
  const turnIds = [...turnsOf(rows), ...(turn ? [turn.turnId] : [])];
  const now = clock.now();
  const code = error instanceof ApiError ? error.code : 'INTERNAL_ERROR';
  if (code === 'CONVERSATION_PAUSED') {
    await settle(context, rows, { status: 'ignored', code, turnIds });
    return undefined;
  }
  const message = error instanceof ApiError ? error.message : null;
  const attempts = Math.max(...rows.map((row) => row.attempts));
  const waitMs = BACK_OFF_MS[attempts];
  if (!(error instanceof ApiError))
    runtime.logger?.warn({ workspaceId, err: error }, 'a message of a person was not answered');
  if (hasBegun || FINAL.has(code) || (waitMs === undefined && code !== 'UNAVAILABLE')) {
    const outcome = hasBegun ? [message, UNKNOWN_OUTCOME].filter((part) => part !== null).join(' ') : message;
    await settle(context, rows, { status: 'failed', code, message: outcome, turnIds });
    return undefined;
  }
  if (code === 'UNAVAILABLE') {
    // The process stops, or lost its conversation: that is no fault of the messages.
    await updateForRetry(db, workspaceId, ids, { dueAt: now, counts: false, code, message, turnIds });
    throw error;
  }
  const dueAt = new Date(now.getTime() + (waitMs ?? 0));
  await updateForRetry(db, workspaceId, ids, { dueAt, counts: true, code, message, turnIds });
  return waitMs;
}

/** The turns that were to answer these, as they were read. */
function turnsOf(rows: readonly UnansweredRow[]): string[] {
  return [...new Set(rows.flatMap(({ turn_id }) => turn_id ?? []))];
}

/** How messages end that get no answer. */
interface Settlement {
  status: 'ignored' | 'failed';
  code: string;
  message?: string | null;
  /** The turns that were to answer them; those that the rows name when absent. */
  turnIds?: readonly string[];
}

async function settle(
  { db, workspaceId, runtime, clock }: WorkspaceContext,
  rows: readonly UnansweredRow[],
  { status, code, message = null, turnIds = turnsOf(rows) }: Settlement,
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await updateSettled(db, workspaceId, ids, { status, code, message, now: clock.now(), turnIds });
  // Those of a failure stay, since the messages may be replayed.
  if (status === 'ignored')
    await dropFiles(
      runtime,
      rows.flatMap(({ files }) => files ?? []),
    );
}

/** Shows the person that an answer is being written. Nobody waits for it, and it never rejects. */
async function showTyping(
  { db, workspaceId, runtime }: WorkspaceContext,
  conversationId: string,
  { connection_id, channel_type }: InboundConversation,
  rows: readonly UnansweredRow[],
): Promise<void> {
  const provider = providerOf(channel_type, runtime.channels);
  if (!provider?.showTyping) return;
  try {
    const connection = await findChannelConnection(db, workspaceId, connection_id);
    const conversation = await findConversation(db, workspaceId, conversationId);
    if (!connection || !conversation?.end_user_id) return;
    const recipient = await selectIdentities(db, workspaceId, conversation.end_user_id);
    const inReplyTo = rows.at(-1)?.provider_message_id ?? null;
    const account = channelAccount(runtime.secrets, connection);
    await provider.showTyping(account, { recipient, inReplyTo }, AbortSignal.timeout(TYPING_MS));
  } catch (error) {
    runtime.logger?.warn({ workspaceId, err: error }, 'it was not shown that an answer is being written');
  }
}
