import { fault } from '../../core/errors.ts';
import { lockPlan } from '../../db/queries/billing/plans.ts';
import { type HubRow, lockHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { WorkspaceContext } from '../context.ts';

/** Who may enter a hub; absent = unchanged. */
export interface AccessChange {
  accessType?: 'public' | 'private';
  defaultPlanPublicId?: string;
  selfServiceEnabled?: boolean;
}

/**
 * Changes who may enter the hub. A public hub has a default plan, and that plan is free: whoever signs up gets it. Throws
 * PLAN_NOT_FOUND, DEFAULT_PLAN_REQUIRED or DEFAULT_PLAN_NOT_FREE, and then nothing has changed.
 */
export async function changeAccess(
  { db, workspaceId, clock }: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>,
  { accessType, defaultPlanPublicId, selfServiceEnabled }: AccessChange,
): Promise<HubRow> {
  const now = clock.now();
  return await inTransaction(db, async (trx) => {
    const hub = await lockHub(trx, workspaceId, now);
    const planId = defaultPlanPublicId ?? hub.default_plan_id;
    // Held until the commit: a price that is set meanwhile waits, and then sees that the hub is public.
    const plan = planId === null ? undefined : await lockPlan(trx, workspaceId, planId, 'share');
    if (defaultPlanPublicId !== undefined && !plan) throw fault('PLAN_NOT_FOUND');
    if ((accessType ?? hub.access_type) === 'public') {
      if (!plan) throw fault('DEFAULT_PLAN_REQUIRED');
      if (plan.price_cents > 0) throw fault('DEFAULT_PLAN_NOT_FREE');
    }
    const change = {
      access_type: accessType,
      default_plan_id: defaultPlanPublicId,
      self_service_enabled: selfServiceEnabled,
    };
    if (Object.values(change).every((value) => value === undefined)) return hub;
    return await updateHubRow(trx, workspaceId, { ...change, updated_at: now });
  });
}
