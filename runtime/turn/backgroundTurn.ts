import { ApiError, type ErrorCode } from '../../core/errors.ts';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { planTurn } from './planTurn.ts';
import { runTurn } from './runTurn.ts';
import { TurnNotDue } from './takeConversation.ts';
import type { Turn } from './types.ts';

/** No caller waits for these turns. */
const TIMEOUT_MS = 300_000;

/** States that forbid a turn and are no failure: an immediate retry does not help. */
const SKIPPED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AGENT_NOT_FOUND',
  'AGENT_NOT_PUBLISHED',
  'CLIENT_NOT_ACTIVE',
  'CONVERSATION_NOT_FOUND',
  'CONVERSATION_ENDED',
  'CONVERSATION_PAUSED',
  'MISSING_VARIABLE',
  'OPERATION_LIMIT_REACHED',
]);

/** Why a background turn was not run: the code of the state that forbids it, or NOT_DUE when it is no longer needed. */
export type SkipReason = ErrorCode | 'NOT_DUE';

async function orSkipReason<T>(work: () => Promise<T>): Promise<T | SkipReason> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TurnNotDue) return 'NOT_DUE';
    if (error instanceof ApiError && SKIPPED.has(error.code)) return error.code;
    throw error;
  }
}

/** Plans a turn that no message of the user begins. */
export function planBackgroundTurn(
  context: WorkspaceRuntime,
  { id, agent_id }: Pick<ConversationRow, 'id' | 'agent_id'>,
  kind: Exclude<Turn['kind'], 'message'>,
): Promise<Turn | SkipReason> {
  return orSkipReason(async () => {
    const request = {
      agentId: agent_id,
      conversationId: id,
      content: '',
      attachments: [],
      externalUserId: undefined,
      isTest: false,
      metadata: undefined,
      timeoutMs: TIMEOUT_MS,
    };
    const planned = await planTurn(context, request, kind);
    if (planned instanceof ApiError) throw planned;
    return planned;
  });
}

/** Runs a background turn. `content` is what the model reads in place of a message. Throws what fails on the way. */
export function runBackgroundTurn(turn: Turn, content: string): Promise<'DONE' | SkipReason> {
  return orSkipReason(async () => {
    await runTurn({ ...turn, request: { ...turn.request, content } });
    return 'DONE' as const;
  });
}
