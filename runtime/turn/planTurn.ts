import { ApiError, fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findTurnSubject, type TurnSubject } from '../../db/queries/turns/turnSubject.ts';
import { checkAttachments } from '../files/attachments.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { approvalsByOf } from './approvalsBy.ts';
import { beginAtOnce } from './beginTurn.ts';
import { commandIn, expandCommand } from './command.ts';
import { decisionsOf, resolveDecisions } from './decisions.ts';
import { makeTurn } from './makeTurn.ts';
import { paymentRefusal } from './payment.ts';
import type { Turn, TurnRequest } from './types.ts';

/** The state of the agent or the conversation that forbids a turn. */
export function stateRefusal({
  status,
  published_version_number: version,
  is_ended,
  is_paused,
}: Pick<TurnSubject, 'status' | 'published_version_number' | 'is_ended' | 'is_paused'>): ApiError | undefined {
  if (status !== 'active' || version === null) return fault('AGENT_NOT_PUBLISHED');
  if (is_ended) return fault('CONVERSATION_ENDED');
  if (is_paused) return fault('CONVERSATION_PAUSED');
}

/**
 * Makes a turn. When everything that it is made from is in memory, it has begun then; else everything is read, and nothing is stored yet.
 * Throws AGENT_NOT_FOUND, CONVERSATION_NOT_FOUND or VALIDATION_ERROR when the request itself is wrong. Returns an error when the request is
 * sound, and the state of the agent, the conversation or its client forbids the turn: AGENT_NOT_PUBLISHED, CONVERSATION_ENDED,
 * CONVERSATION_PAUSED, CLIENT_NOT_ACTIVE, OPERATION_LIMIT_REACHED or MISSING_VARIABLE. A stream reports that one as an event; `runTurn`
 * throws it. Whoever plans a turn must run it: it may hold its conversation.
 */
export async function planTurn(
  context: WorkspaceRuntime,
  asked: TurnRequest,
  kind: Turn['kind'] = 'message',
): Promise<Turn | ApiError> {
  // An earlier attempt at the request may have begun its conversation.
  const conversationId = asked.conversationId ?? asked.keyed?.claim.begun?.conversationId;
  const request = { ...asked, conversationId };
  checkAttachments(request.attachments);
  const begun = kind === 'message' ? await beginAtOnce(context, request) : undefined;
  return begun ?? readTurn(context, request, kind);
}

/** What the user typed, when it is one message. Several of them are no command and no decision. */
function typedText({ content, inbound }: TurnRequest): string {
  if (!inbound) return content;
  const [only, ...others] = inbound.messages;
  return only && others.length === 0 ? only.content : '';
}

async function readTurn(context: WorkspaceRuntime, request: TurnRequest, kind: Turn['kind']): Promise<Turn | ApiError> {
  const { db, workspaceId, runtime } = context;
  const { agentId, conversationId } = request;
  // The prompt of an automation is no command that somebody typed: an event may follow it.
  const typed = kind === 'message' && !request.prepared ? commandIn(typedText(request)) : null;
  const newUserId = request.externalUserId ?? newId();
  const subject = await findTurnSubject(db, workspaceId, {
    agentId,
    conversationId: conversationId ?? null,
    externalUserId: newUserId,
    command: typed?.name ?? null,
    now: runtime.clock.now(),
  });
  if (!subject) throw fault('AGENT_NOT_FOUND');
  if (conversationId !== undefined && subject.conversation_id === null) {
    throw fault('CONVERSATION_NOT_FOUND', 'The agent has no conversation with this id.');
  }
  const approvalsBy = approvalsByOf(subject.approvals_by, subject.channel ?? 'api', subject.metadata, request.metadata);
  const decisions = await resolveDecisions(db, workspaceId, decisionsOf({ ...request, content: typedText(request) }), {
    conversationId,
    approvalsBy,
    // A message of a channel may have waited for the turn that asked for the calls.
    arrivedAt: request.inbound?.messages.at(-1)?.receivedAt ?? runtime.clock.now(),
  });
  const refusal = stateRefusal(subject);
  if (refusal) return refusal;
  const versionNumber = subject.published_version_number ?? 0;
  const snapshot = await runtime.snapshot(db, workspaceId, agentId, versionNumber);
  if (!snapshot) return fault('AGENT_NOT_PUBLISHED');
  const { revision, time_zone: timeZone, operation_limit, command, has_clients, has_budgets } = subject;
  const known = {
    versionNumber,
    snapshot,
    revision,
    timeZone,
    isLimited: operation_limit !== null,
    approvalsBy: subject.approvals_by,
    hasClients: has_clients,
    hasBudgets: has_budgets,
  };
  runtime.agents.set(`${workspaceId}/${agentId}`, known);
  const facts = {
    externalUserId: subject.external_user_id ?? newUserId,
    channel: subject.channel ?? 'api',
    metadata: subject.metadata,
    followUpsSent: subject.follow_ups_sent ?? 0,
    connectionId: subject.connection_id,
    memories: subject.memories,
    mayBeOfClient: subject.client_id !== null,
  };
  try {
    const turn = makeTurn(context, kind, request, {
      known,
      facts,
      command: command && typed && { id: command.id, text: expandCommand(command.prompt, typed.text) },
      decisions,
    });
    const unpaid = await paymentRefusal(turn);
    if (unpaid?.status === 400) throw unpaid;
    return unpaid ?? turn;
  } catch (error) {
    if (error instanceof ApiError && error.status !== 400) return error;
    throw error;
  }
}
