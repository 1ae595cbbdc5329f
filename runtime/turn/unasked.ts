import { ApiError, type ErrorCode } from '../../core/errors.ts';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import { planTurn } from './plan.ts';
import { runTurn } from './prepareTurn.ts';
import { NotDue } from './turn.ts';
import type { TurnContext, TurnPlan } from './types.ts';

/** Turns that nobody waits for have so long, in milliseconds. */
const TIMEOUT_MS = 300_000;

/** States that forbid a turn and are no fault: trying again at once does not help. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AGENT_NOT_FOUND',
  'AGENT_NOT_PUBLISHED',
  'CONVERSATION_NOT_FOUND',
  'CONVERSATION_ENDED',
  'CONVERSATION_PAUSED',
  'MISSING_VARIABLE',
  'OPERATION_LIMIT_REACHED',
]);

/** Why a turn that nobody asked for was not run: the code of the state that forbids it, or that it is not needed any more. */
export type Unneeded = ErrorCode | 'NOT_DUE';

async function orRefusal<T>(work: () => Promise<T>): Promise<T | Unneeded> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotDue) return 'NOT_DUE';
    if (error instanceof ApiError && REFUSALS.has(error.code)) return error.code;
    throw error;
  }
}

/** The plan of a turn without a message of the user. */
export function planUnasked(
  context: TurnContext,
  { id, agent_id }: Pick<ConversationRow, 'id' | 'agent_id'>,
  kind: Exclude<TurnPlan['kind'], 'message'>,
): Promise<TurnPlan | Unneeded> {
  return orRefusal(async () => {
    const request = {
      agentId: agent_id,
      conversationId: id,
      content: '',
      attachments: [],
      externalUserId: undefined,
      isTest: false,
      metadata: undefined,
    };
    const planned = await planTurn(context, request, kind);
    if ('refusal' in planned) throw planned.refusal;
    return planned.plan;
  });
}

/** Runs it; `content` is what the model gets in place of a message. Throws what fails on the way. */
export function runUnasked(context: TurnContext, plan: TurnPlan, content: string): Promise<'DONE' | Unneeded> {
  return orRefusal(async () => {
    await runTurn(context, { ...plan, request: { ...plan.request, content } }, { timeoutMs: TIMEOUT_MS });
    return 'DONE' as const;
  });
}
