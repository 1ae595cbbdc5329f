import { type ApiError, fault } from '../core/errors.ts';
import { findTurnSubject } from '../db/queries/turns.ts';
import { checkAttachments } from './attachments.ts';
import { Turn, type TurnContext, type TurnListener, type TurnRequest, type TurnResult } from './turn.ts';
import { systemPrompt } from './turnPrompt.ts';

/** A turn whose request is sound. What can still go wrong is the state of things, the model, or the time. */
export interface PreparedTurn {
  /**
   * Answers the user. Throws AGENT_NOT_PUBLISHED, CONVERSATION_PAUSED, CONVERSATION_ENDED, MISSING_VARIABLE,
   * ATTACHMENT_TOO_LARGE, UNSUPPORTED_ATTACHMENT, OPERATION_LIMIT_REACHED, AGENT_TIMEOUT, MODEL_PROVIDER_ERROR,
   * UNAVAILABLE. Once the user's message is stored it stays, and the conversation is free again, whatever happens.
   */
  run(listener: TurnListener): Promise<TurnResult>;
}

/**
 * Looks at a request before anything is stored. Throws AGENT_NOT_FOUND, CONVERSATION_NOT_FOUND or VALIDATION_ERROR: what
 * is wrong with the request itself. Everything else is thrown by `run`.
 */
export async function prepareTurn(context: TurnContext, request: TurnRequest): Promise<PreparedTurn> {
  const { db, workspaceId, runtime } = context;
  checkAttachments(request.attachments);
  const subject = await findTurnSubject(db, workspaceId, request.agentId, request.conversationId ?? null);
  if (!subject) throw fault('AGENT_NOT_FOUND');
  if (request.conversationId !== undefined && subject.conversation_id === null) throw fault('CONVERSATION_NOT_FOUND');

  const refuse = (error: ApiError): PreparedTurn => ({ run: () => Promise.reject(error) });
  if (subject.status !== 'active' || subject.published_version_number === null)
    return refuse(fault('AGENT_NOT_PUBLISHED'));
  if (subject.is_ended) return refuse(fault('CONVERSATION_ENDED'));
  if (subject.is_paused) return refuse(fault('CONVERSATION_PAUSED'));
  const snapshot = await runtime.snapshot(db, workspaceId, request.agentId, subject.published_version_number);
  if (!snapshot) return refuse(fault('AGENT_NOT_PUBLISHED'));
  let system: string;
  try {
    system = systemPrompt(snapshot, request.metadata?.variables, subject.metadata);
  } catch (error) {
    const problem = error as ApiError;
    if (problem.status === 400) throw problem;
    return refuse(problem);
  }
  const limited = subject.operation_limit !== null;
  return {
    run: (listener) =>
      runtime.turns.run(async (controller) => {
        const seconds = Math.round(listener.timeoutMs / 1000);
        const timer = setTimeout(
          () => controller.abort(fault('AGENT_TIMEOUT', `The agent did not finish within ${seconds} s.`)),
          listener.timeoutMs,
        );
        try {
          return await new Turn(context, { request, snapshot, system, limited }, listener, controller.signal).run();
        } finally {
          clearTimeout(timer);
        }
      }),
  };
}
