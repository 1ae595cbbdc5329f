import { type ApiError, fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findTurnSubject, type TurnSubject } from '../../db/queries/turns/turnSubject.ts';
import { MAX_MODEL_CALLS } from '../agent/agentRun.ts';
import { StepLog } from '../agent/stepLog.ts';
import { checkAttachments } from '../files/attachments.ts';
import { renderInstructions } from '../prompt/instructions.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { commandIn, expandCommand } from './command.ts';
import { decisionsOf, resolveDecisions } from './decisions.ts';
import type { Turn, TurnRequest } from './types.ts';

function refusalOf({
  status,
  published_version_number: version,
  is_ended,
  is_paused,
}: TurnSubject): ApiError | undefined {
  if (status !== 'active' || version === null) return fault('AGENT_NOT_PUBLISHED');
  if (is_ended) return fault('CONVERSATION_ENDED');
  if (is_paused) return fault('CONVERSATION_PAUSED');
}

/**
 * Reads everything that a turn depends on, before anything is stored. Throws AGENT_NOT_FOUND, CONVERSATION_NOT_FOUND or
 * VALIDATION_ERROR when the request itself is wrong. Returns an error when the request is sound, and the state of the agent or the
 * conversation forbids the turn: AGENT_NOT_PUBLISHED, CONVERSATION_ENDED, CONVERSATION_PAUSED or MISSING_VARIABLE. A stream reports
 * that one as an event; `runTurn` throws it.
 */
export async function planTurn(
  { db, workspaceId, runtime }: WorkspaceRuntime,
  asked: TurnRequest,
  kind: Turn['kind'] = 'message',
): Promise<Turn | ApiError> {
  // An earlier attempt at the request may have begun its conversation.
  const conversationId = asked.conversationId ?? asked.keyed?.claim.begun?.conversationId;
  const request = { ...asked, conversationId };
  const { agentId, content, metadata } = request;
  checkAttachments(request.attachments);
  const typed = kind === 'message' ? commandIn(content) : null;
  const newUserId = request.externalUserId ?? newId();
  const subject = await findTurnSubject(db, workspaceId, {
    agentId,
    conversationId: conversationId ?? null,
    externalUserId: newUserId,
    command: typed?.name ?? null,
  });
  if (!subject) throw fault('AGENT_NOT_FOUND');
  if (conversationId !== undefined && subject.conversation_id === null) {
    throw fault('CONVERSATION_NOT_FOUND', 'The agent has no conversation with this id.');
  }
  const decisions = await resolveDecisions(db, workspaceId, decisionsOf(request), conversationId);
  const refusal = refusalOf(subject);
  if (refusal) return refusal;
  const versionNumber = subject.published_version_number ?? 0;
  const snapshot = await runtime.snapshot(db, workspaceId, agentId, versionNumber);
  if (!snapshot) return fault('AGENT_NOT_PUBLISHED');
  let instructions: string;
  try {
    instructions = renderInstructions(snapshot, metadata?.variables, subject.metadata);
  } catch (error) {
    const problem = error as ApiError;
    if (problem.status === 400) throw problem;
    return problem;
  }
  const { command } = subject;
  const turnId = newId();
  return {
    db,
    workspaceId,
    runtime,
    turnId,
    conversationId: conversationId ?? newId(),
    kind,
    request,
    controller: new AbortController(),
    startedAt: performance.now(),
    versionNumber,
    snapshot,
    instructions,
    variables: {
      ...(subject.metadata?.variables as object | undefined),
      ...(metadata?.variables as object | undefined),
    },
    memories: subject.memories,
    revision: subject.revision,
    externalUserId: subject.external_user_id ?? newUserId,
    command: command && typed && { id: command.id, text: expandCommand(command.prompt, typed.text) },
    decisions,
    followUpsSent: subject.follow_ups_sent ?? 0,
    timeZone: subject.time_zone,
    // A continuation completes a turn that was counted.
    isLimited: subject.operation_limit !== null && kind !== 'continuation',
    countedAt: undefined,
    steps: new StepLog(db, { workspaceId, turnId }, runtime.clock),
    approvals: [],
    ui: null,
    modelCallsLeft: MAX_MODEL_CALLS,
  };
}
