import { fault } from '../../core/errors.ts';
import { checkAttachments } from '../files/attachments.ts';
import { planTurn } from './plan.ts';
import { Turn } from './turn.ts';
import type { TurnContext, TurnListener, TurnPlan, TurnRequest, TurnResult } from './types.ts';

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
  checkAttachments(request.attachments);
  const planned = await planTurn(context, request, 'message');
  if ('refusal' in planned) return { run: () => Promise.reject(planned.refusal) };
  return { run: (listener) => runTurn(context, planned.plan, listener) };
}

/** Runs a planned turn within its time. */
export function runTurn(context: TurnContext, plan: TurnPlan, listener: TurnListener): Promise<TurnResult> {
  return context.runtime.turns.run(async (controller) => {
    const seconds = Math.round(listener.timeoutMs / 1000);
    const timer = setTimeout(
      () => controller.abort(fault('AGENT_TIMEOUT', `The agent did not finish within ${seconds} s.`)),
      listener.timeoutMs,
    );
    try {
      return await new Turn(context, plan, listener, controller.signal).run();
    } finally {
      clearTimeout(timer);
    }
  });
}
