import { type ApiError, fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findTurnSubject, type TurnSubject } from '../../db/queries/turns/turnSubject.ts';
import { renderInstructions } from '../prompt/instructions.ts';
import { commandIn, expandCommand } from './command.ts';
import { decisionsOf, resolveDecisions } from './decisions.ts';
import type { TurnContext, TurnPlan, TurnRequest } from './types.ts';

/** A plan, or why there can be none now: the request itself is sound. */
export type Planned = { plan: TurnPlan } | { refusal: ApiError };

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
 * Looks at everything that a turn depends on, before anything is stored. Throws AGENT_NOT_FOUND, CONVERSATION_NOT_FOUND or
 * VALIDATION_ERROR: what is wrong with the request itself. The state of things that forbids the turn is a refusal.
 */
export async function planTurn(context: TurnContext, request: TurnRequest, kind: TurnPlan['kind']): Promise<Planned> {
  const { db, workspaceId, runtime } = context;
  const { agentId, conversationId, content, metadata } = request;
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
  const decisions = await resolveDecisions(context, decisionsOf(request), conversationId);
  const refusal = refusalOf(subject);
  if (refusal) return { refusal };
  const versionNumber = subject.published_version_number ?? 0;
  const snapshot = await runtime.snapshot(db, workspaceId, agentId, versionNumber);
  if (!snapshot) return { refusal: fault('AGENT_NOT_PUBLISHED') };
  let instructions: string;
  try {
    instructions = renderInstructions(snapshot, metadata?.variables, subject.metadata);
  } catch (error) {
    const problem = error as ApiError;
    if (problem.status === 400) throw problem;
    return { refusal: problem };
  }
  const { command } = subject;
  return {
    plan: {
      kind,
      request,
      versionNumber,
      snapshot,
      instructions,
      decisions,
      variables: {
        ...(subject.metadata?.variables as object | undefined),
        ...(metadata?.variables as object | undefined),
      },
      memories: subject.memories,
      revision: subject.revision,
      externalUserId: subject.external_user_id ?? newUserId,
      command: command && typed && { id: command.id, text: expandCommand(command.prompt, typed.text) },
      followUpsSent: subject.follow_ups_sent ?? 0,
      timeZone: subject.time_zone,
      // What a person decided later completes a turn that has been counted.
      limited: subject.operation_limit !== null && kind !== 'continuation',
    },
  };
}
