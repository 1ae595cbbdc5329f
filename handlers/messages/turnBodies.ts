import type { components } from '../../generated/api.ts';
import type { PendingApproval } from '../../runtime/agent/paused.ts';

/** A call that waits for a person, as the contract shows it. */
export function pendingApprovalBody(approval: PendingApproval): components['schemas']['PendingApproval'] {
  const { id, toolName, input, requestedAt } = approval;
  return { publicId: id, toolName, input, requestedAt };
}
