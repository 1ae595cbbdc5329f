import { findConversation } from '../../db/queries/conversations/conversations.ts';
import { postponeFollowUp } from '../../db/queries/turns/turns.ts';
import { allowedFollowUp } from '../followUps/schedule.ts';
import { followUpText } from '../followUps/text.ts';
import type { TurnContext } from './types.ts';
import { planUnasked, runUnasked, type Unneeded } from './unasked.ts';

/** What the month's limit forbids now may be allowed later: it is looked at again after so long, in milliseconds. */
const LIMIT_PAUSE_MS = 60 * 60 * 1000;

/**
 * Lets the agent write again after a silence, if the conversation's follow-up is due: once, however many ask for it. One that fails on
 * the way is thrown, and is due again FOLLOW_UP_RETRY_MINUTES later, as after the death of the process.
 */
export async function runFollowUp(context: TurnContext, conversationId: string): Promise<'sent' | 'not_due'> {
  const { db, workspaceId, runtime } = context;
  const conversation = await findConversation(db, workspaceId, conversationId);
  const now = runtime.clock.now();
  const due = conversation?.follow_up_at ?? null;
  if (!conversation || due === null || due > now) return 'not_due';
  const postpone = async (until: Date | null) => {
    await postponeFollowUp(db, workspaceId, conversationId, { due, until });
    return 'not_due' as const;
  };
  const refused = (why: Unneeded) => {
    if (why === 'NOT_DUE') return 'not_due' as const;
    return postpone(why === 'OPERATION_LIMIT_REACHED' ? new Date(now.getTime() + LIMIT_PAUSE_MS) : null);
  };
  const plan = await planUnasked(context, conversation, 'follow_up');
  if (typeof plan === 'string') return refused(plan);
  const { snapshot, followUpsSent: sent, timeZone } = plan;
  // Later than planned, it may be outside the business hours, or the agent published since may not follow up any more.
  const allowed = allowedFollowUp(snapshot, { at: now, sent, timeZone });
  if (allowed === null || allowed > now) return postpone(allowed);
  const outcome = await runUnasked(
    context,
    plan,
    followUpText(snapshot, now.getTime() - conversation.last_message_at.getTime()),
  );
  return outcome === 'DONE' ? 'sent' : refused(outcome);
}
