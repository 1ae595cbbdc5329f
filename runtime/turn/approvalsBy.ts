import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';

/** Who decides on calls that wait for an approval: the one who writes in the conversation, or somebody of the workspace. */
export type ApprovalsBy = 'user' | 'operator';

/**
 * Who decides in a conversation: whom the agent's setting names, or else the workspace's; without one an operator where an end user writes
 * through a channel, and the user where the API's caller writes. Metadata can demand an operator, and never a user.
 */
export function approvalsByOf(
  setting: ApprovalsBy | null,
  channel: ConversationRow['channel'],
  ...metadata: (Record<string, unknown> | null | undefined)[]
): ApprovalsBy {
  if (metadata.some((each) => each?.approvalsBy === 'operator')) return 'operator';
  return setting ?? (channel === 'api' ? 'user' : 'operator');
}
