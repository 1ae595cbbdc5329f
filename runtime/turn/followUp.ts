import { findConversation } from '../../db/queries/conversations/conversations.ts';
import { postponeFollowUp } from '../../db/queries/conversations/followUps.ts';
import { allowedFollowUp } from '../followUps/schedule.ts';
import { followUpText } from '../followUps/text.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { planBackgroundTurn, runBackgroundTurn, type SkipReason } from './backgroundTurn.ts';

/** A follow-up that the monthly limit forbids is tried again after this time. */
const LIMIT_RETRY_MS = 60 * 60 * 1000;

/**
 * Lets the agent write again after a silence, if the conversation's follow-up is due. It is sent once, however many processes call
 * this. A failure on the way is thrown; the follow-up is then due again after FOLLOW_UP_RETRY_MINUTES, as after the death of the process.
 */
export async function runFollowUp(context: WorkspaceRuntime, conversationId: string): Promise<'sent' | 'not_due'> {
  const { db, workspaceId, runtime } = context;
  const conversation = await findConversation(db, workspaceId, conversationId);
  const now = runtime.clock.now();
  const due = conversation?.follow_up_at ?? null;
  if (!conversation || due === null || due > now) return 'not_due';
  const postpone = async (until: Date | null) => {
    await postponeFollowUp(db, workspaceId, conversationId, { due, until });
    return 'not_due' as const;
  };
  const skip = (reason: SkipReason) => {
    if (reason === 'NOT_DUE') return 'not_due' as const;
    return postpone(reason === 'OPERATION_LIMIT_REACHED' ? new Date(now.getTime() + LIMIT_RETRY_MS) : null);
  };
  const turn = await planBackgroundTurn(context, conversation, 'follow_up');
  if (typeof turn === 'string') return skip(turn);
  const { snapshot, followUpsSent: sent, timeZone } = turn;
  // It may be later than planned: outside the business hours, or the version published since does not follow up.
  const allowed = allowedFollowUp(snapshot, { at: now, sent, timeZone });
  if (allowed === null || allowed > now) return postpone(allowed);
  const silentForMs = now.getTime() - conversation.last_message_at.getTime();
  const outcome = await runBackgroundTurn(turn, followUpText(snapshot, silentForMs));
  return outcome === 'DONE' ? 'sent' : skip(outcome);
}
