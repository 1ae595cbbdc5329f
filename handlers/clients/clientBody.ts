import { fault } from '../../core/errors.ts';
import { findClientDetail, type ShownPlan } from '../../db/queries/clients/clientDetail.ts';
import type { InvitedUserRow } from '../../db/queries/clients/clientUsers.ts';
import type { WorkspaceContext } from '../../domain/context.ts';
import { balancesOf } from '../../domain/credits/credits.ts';
import type { components } from '../../generated/api.ts';

type Client = components['schemas']['ClientWorkspace'];
type PendingInvitation = components['schemas']['PendingInvitation'];
type PlanRef = components['schemas']['PlanRef'];
type User = components['schemas']['ClientUser'];

/** The client as the contract shows it. Throws CLIENT_NOT_FOUND. */
export async function clientBody(
  { db, workspaceId, clock }: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>,
  id: string,
): Promise<Client> {
  const detail = await findClientDetail(db, workspaceId, id);
  if (!detail) throw fault('CLIENT_NOT_FOUND');
  const { client, plan, pendingPlan, users } = detail;
  const credits = (await balancesOf(db, workspaceId, [id])).get(id);
  return {
    publicId: client.id,
    workspaceName: client.name,
    subscriptionStatus: client.status,
    plan: plan ? planRef(plan) : null,
    pendingPlan:
      pendingPlan && client.pending_plan_at
        ? {
            publicId: pendingPlan.id,
            name: pendingPlan.name,
            priceCents: pendingPlan.price_cents,
            currency: pendingPlan.currency,
            effectiveAt: client.pending_plan_at.toISOString(),
          }
        : null,
    creditsBalance: credits?.included ?? 0,
    extraCreditsBalance: credits?.extra ?? 0,
    creditsUsedThisPeriod: credits?.usedThisPeriod ?? 0,
    unlimitedCredits: plan?.unlimited_credits ?? false,
    currentPeriodStart: client.period_start?.toISOString() ?? null,
    currentPeriodEnd: client.period_end?.toISOString() ?? null,
    nextCreditRenewalAt: client.next_credit_renewal_at?.toISOString() ?? null,
    seatsLimit: plan?.seats_included ?? null,
    usersCount: users.length,
    users: users.map(userBody),
    pendingInvitations: users.flatMap((user) => invitationOf(user, clock.now())),
    createdAt: client.created_at.toISOString(),
  };
}

/** What the contract shows of an invitation that is not accepted yet. */
export function invitationBody(
  { id, createdAt, expiresAt }: { id: string; createdAt: Date; expiresAt: Date },
  { name, email, role }: Pick<InvitedUserRow, 'name' | 'email' | 'role'>,
  now: Date,
): PendingInvitation {
  return {
    publicId: id,
    name,
    email,
    role,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    isExpired: expiresAt <= now,
  };
}

function invitationOf(user: InvitedUserRow, now: Date): PendingInvitation[] {
  const { invitation_id: id, invited_at: createdAt, invitation_expires_at: expiresAt } = user;
  return id && createdAt && expiresAt ? [invitationBody({ id, createdAt, expiresAt }, user, now)] : [];
}

function userBody({ id, name, email, role, onboarded_at, last_seen_at }: InvitedUserRow): User {
  return {
    publicId: id,
    name,
    email,
    role,
    completedOnboarding: onboarded_at !== null,
    lastSeenAt: last_seen_at?.toISOString() ?? null,
  };
}

function planRef(plan: ShownPlan): PlanRef {
  return {
    publicId: plan.id,
    name: plan.name,
    priceCents: plan.price_cents,
    currency: plan.currency,
    billingType: plan.billing_type as PlanRef['billingType'],
    billingIntervalMonths: plan.billing_interval_months,
    creditsIncluded: plan.credits_included,
  };
}
