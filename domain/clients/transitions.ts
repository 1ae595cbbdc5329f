import type { ClientStatus } from '../../db/queries/clients/clients.ts';

/** What can happen to a subscription. */
export type SubscriptionEvent =
  | 'start'
  | 'start_trial'
  | 'renew'
  | 'renew_credits'
  | 'change_plan'
  | 'mark_past_due'
  | 'mark_paid'
  | 'suspend'
  | 'resume'
  | 'cancel';

/** The status after each event, by the status before it. Where there is none, the event is refused and changes nothing. */
export const TRANSITIONS: Readonly<Record<SubscriptionEvent, Readonly<Partial<Record<ClientStatus, ClientStatus>>>>> = {
  start: {
    pending_onboarding: 'active',
    trialing: 'active',
    active: 'active',
    past_due: 'active',
    canceled: 'active',
    // What is bought does not undo what the agency has decided.
    suspended: 'suspended',
  },
  start_trial: { pending_onboarding: 'trialing' },
  renew: { active: 'active', past_due: 'active', suspended: 'suspended' },
  renew_credits: { active: 'active', trialing: 'trialing' },
  change_plan: { active: 'active', past_due: 'past_due', suspended: 'suspended' },
  mark_past_due: { active: 'past_due' },
  mark_paid: { past_due: 'active' },
  suspend: { active: 'suspended' },
  resume: { suspended: 'active' },
  // A suspended client is only without its subscription then: reactivateClient still opens it.
  cancel: {
    pending_onboarding: 'canceled',
    trialing: 'canceled',
    active: 'canceled',
    past_due: 'canceled',
    suspended: 'suspended',
  },
};
