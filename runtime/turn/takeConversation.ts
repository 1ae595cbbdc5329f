import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../../core/deadline.ts';
import { type ApiError, fault } from '../../core/errors.ts';
import { type ConversationRow, findConversation } from '../../db/queries/conversations/conversations.ts';
import { isPausedAt } from '../../db/queries/conversations/pause.ts';
import { beginConversation, type ConversationStart } from '../../db/queries/turns/beginConversation.ts';
import { type Claim, claimConversation } from '../../db/queries/turns/claimConversation.ts';
import { failTurn } from '../../db/queries/turns/finishTurn.ts';
import type { KnownWorkspace } from '../../db/queries/turns/knownWorkspace.ts';
import { storeUnanswered } from '../../db/queries/turns/storeUnanswered.ts';
import type { UserMessage } from '../../db/queries/turns/turnStart.ts';
import type { KeyClaim } from '../../db/queries/workspaces/idempotencyKeys.ts';
import { isQuotaUsed, returnToQuota, takeFromQuota } from '../../db/queries/workspaces/quota.ts';
import { paymentRefusal } from './payment.ts';
import { storedRequest } from './storedRequest.ts';
import type { Turn } from './types.ts';

const FIRST_WAIT_MS = 25;
const MAX_WAIT_MS = 250;
const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** How a turn takes its conversation. */
interface Waiting {
  maxHistoryBytes: number;
  foundDead: () => void;
}

/** Thrown for a turn without a message of a request that is not needed: another one has done its work, or is about to. */
export class TurnNotDue extends Error {}

/**
 * Begins the conversation, or waits until no other turn holds it; stores the turn and the user's message. `message` is null for turns
 * without one. Throws OPERATION_LIMIT_REACHED, CLIENT_NOT_ACTIVE, CONVERSATION_NOT_FOUND, CONVERSATION_ENDED, CONVERSATION_PAUSED, TurnNotDue, or the
 * reason of the turn's signal. When the time runs out while the turn waits, the user's message is stored all the same. `release` lets
 * the next turn that waits in this process take the conversation. `foundDead` is called when the process of the turn before has died: that turn
 * is to go on first.
 */
export async function takeConversation(
  turn: Turn,
  message: UserMessage | null,
  options: Waiting,
): Promise<Pick<Claim, 'history' | 'waiting'> & { messageCount: number; release: () => void }> {
  if (turn.request.conversationId === undefined && message) {
    await begin(turn, message);
    return { history: [], waiting: [], messageCount: 1, release: () => {} };
  }
  let release = () => {};
  try {
    release = await waitForEarlierTurns(turn);
    const { history, waiting, messageCount } = await claim(turn, message, options);
    return { history, waiting, messageCount, release };
  } catch (error) {
    release();
    if (message && isTimeout(turn, error)) await storeTimedOut(turn, message);
    throw error;
  }
}

/** What a turn needs of the conversation that it took. The metadata of a new one is that of the message. */
type TakenConversation = Pick<
  ConversationRow,
  'external_user_id' | 'follow_ups_sent' | 'connection_id' | 'channel' | 'message_count'
> & {
  metadata: Record<string, unknown> | null;
};

/** What a turn that begins at once needs, beside what it is. */
interface AtOnce {
  known: KnownWorkspace;
  /** Whether it needs the facts about the end user. */
  recalls: boolean;
  maxHistoryBytes: number;
}

/**
 * As `takeConversation`, with one statement. Undefined when what is known does not hold any more, or the conversation cannot be taken at
 * once, or the month's limit is reached, or its payment is refused; nothing is stored or counted then.
 */
export async function takeAtOnce(
  turn: Turn,
  message: UserMessage,
  { known, recalls, maxHistoryBytes }: AtOnce,
): Promise<
  | (Pick<Claim, 'history' | 'waiting' | 'memories'> & { conversation: TakenConversation; release: () => void })
  | undefined
> {
  const { db, workspaceId, runtime, conversationId, turnId, controller, request } = turn;
  const start = { ...startOf(turn, message), known, recalls };
  if (request.conversationId === undefined) {
    const begun = await beginConversation(db, start, newConversation(turn));
    if (!begun) return undefined;
    noteCount(turn, start, true);
    const conversation = { ...begun.conversation, metadata: null };
    return { conversation, memories: begun.memories, history: [], waiting: [], release: () => {} };
  }
  const release = await runtime.turns.queue(conversationId, controller.signal);
  try {
    const { conversation, counted, ...claim } = await claimConversation(db, start, { historyBytes: maxHistoryBytes });
    if (conversation) {
      noteCount(turn, start, true);
      return { ...claim, conversation, release };
    }
    // Another turn took the conversation at the same moment.
    if (counted) await returnToQuota(db, workspaceId, turnId, start.now);
    release();
    return undefined;
  } catch (error) {
    release();
    throw error;
  }
}

/** Whether the error says that the turn's time has run out. */
export function isTimeout({ controller: { signal } }: Turn, error: unknown): boolean {
  return signal.aborted && (error as ApiError).code === 'AGENT_TIMEOUT';
}

/** Stores the user's message of a turn whose time ran out before it took its conversation. */
export async function storeTimedOut(turn: Turn, message: UserMessage): Promise<void> {
  const { db, workspaceId, conversationId, turnId, attempt, request, runtime } = turn;
  const now = runtime.clock.now();
  if (request.conversationId !== undefined) {
    return storeUnanswered(db, { workspaceId, conversationId, turnId, attempt, now, message, claim: claimOf(turn) });
  }
  await begin(turn, message);
  const { code, message: reason } = fault('AGENT_TIMEOUT');
  await failTurn(db, turn, {
    code,
    message: reason,
    usage: NO_USAGE,
    steps: [],
    now,
    pause: null,
    isPaid: turn.payment !== null,
    countedAt: turn.countedAt,
  });
}

/**
 * Counts the turn against the workspace's monthly limit, once, before the statement that takes the conversation does it. Throws
 * OPERATION_LIMIT_REACHED.
 */
export async function countTurn(turn: Turn): Promise<void> {
  if (!turn.isLimited || turn.countedAt) return;
  const { db, workspaceId, runtime } = turn;
  const now = runtime.clock.now();
  noteCount(turn, { now, usesQuota: true }, await takeFromQuota(db, workspaceId, now));
}

/** Gives back what a turn was counted that failed before it was stored. When the database is out of reach it stays counted: never more than the limit allows. */
export async function uncountTurn({ db, workspaceId, turnId, countedAt }: Turn): Promise<void> {
  if (countedAt) await returnToQuota(db, workspaceId, turnId, countedAt).catch(() => {});
}

function noteCount(turn: Turn, start: { now: Date; usesQuota: boolean }, taken: boolean): void {
  if (!start.usesQuota) return;
  if (!taken) throw fault('OPERATION_LIMIT_REACHED');
  turn.countedAt = start.now;
}

/** The claim on the Idempotency-Key of the turn's request. */
function claimOf({ request }: Turn): KeyClaim | null {
  return request.keyed?.claim ?? null;
}

/** The turn as the statement that begins it needs it. */
function startOf<Message extends UserMessage | null>(turn: Turn, message: Message) {
  const { workspaceId, conversationId, turnId, attempt, request, versionNumber, kind, command, payment } = turn;
  return {
    workspaceId,
    conversationId,
    turnId,
    attempt,
    agentId: request.agentId,
    versionNumber,
    kind,
    message,
    now: turn.runtime.clock.now(),
    commandId: command?.id ?? null,
    usesQuota: turn.isLimited && !turn.countedAt,
    claim: claimOf(turn),
    known: null,
    recalls: false,
    payment,
    request: storedRequest(turn, message),
  };
}

function newConversation({ externalUserId, request: { isTest, metadata = {} } }: Turn): ConversationStart {
  return { externalUserId, isTest, metadata };
}

async function begin(turn: Turn, message: UserMessage): Promise<void> {
  for (;;) {
    const start = startOf(turn, message);
    const begun = await beginConversation(turn.db, start, newConversation(turn));
    if (begun || !turn.payment) return noteCount(turn, start, begun !== undefined);
    await throwRefusal(turn);
    if (start.usesQuota && (await isQuotaUsed(turn.db, turn.workspaceId, start.now)))
      return noteCount(turn, start, false);
    // What refused the turn has passed since: another turn has failed, or credits were granted.
    turn.controller.signal.throwIfAborted();
  }
}

/** Throws the reason for which the turn's payment is refused now, if there is one. */
async function throwRefusal(turn: Turn): Promise<void> {
  const refusal = await paymentRefusal(turn);
  if (refusal) throw refusal;
}

/** Waits for earlier turns of the conversation in this process. Returns the function that lets the next one go. */
async function waitForEarlierTurns(turn: Turn): Promise<() => void> {
  const { runtime, conversationId, controller } = turn;
  // A limit that is reached must be reported at once, and not after the wait.
  if (runtime.turns.isQueued(conversationId)) await countTurn(turn);
  return runtime.turns.queue(conversationId, controller.signal);
}

/** Takes the conversation as soon as no turn of another replica holds it. */
async function claim(
  turn: Turn,
  message: UserMessage | null,
  { maxHistoryBytes, foundDead }: Waiting,
): Promise<Claim & { messageCount: number }> {
  const { db, workspaceId, conversationId, kind, request, controller } = turn;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    controller.signal.throwIfAborted();
    const start = startOf(turn, message);
    const attempt = await claimConversation(db, start, { historyBytes: maxHistoryBytes });
    noteCount(turn, start, attempt.quotaTaken);
    if (attempt.conversation) return { ...attempt, messageCount: attempt.conversation.message_count };
    if (attempt.isDead) foundDead();
    await throwRefusal(turn);
    const conversation = await findConversation(db, workspaceId, conversationId);
    if (!conversation) throw fault('CONVERSATION_NOT_FOUND');
    if (conversation.is_ended) throw fault('CONVERSATION_ENDED');
    if (isPausedAt(conversation, start.now)) throw fault('CONVERSATION_PAUSED');
    // The turn that runs may leave a decision that came meanwhile to this one. Only its end shows whether it does.
    const mayComeDue = kind === 'continuation' && attempt.held;
    if ((kind !== 'message' || request.inbound) && !mayComeDue) throw new TurnNotDue();
    await untilAborted(sleep(waitMs), controller.signal);
  }
}
