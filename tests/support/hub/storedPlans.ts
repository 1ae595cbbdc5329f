import type { Insertable } from 'kysely';
import { newId } from '../../../core/ids.ts';
import { ensureHub, updateHubRow } from '../../../db/queries/hubs/hubs.ts';
import type { CreditPackages, Plans } from '../../../generated/db.ts';
import type { SeededWorkspace } from '../db/database.ts';

type Where = Pick<SeededWorkspace, 'workspaceId' | 'db'>;

let made = 0;

/** What a test says of a plan; the rest is a monthly plan of 49 dollars with 3 seats. */
export type StoredPlanFields = Partial<Omit<Insertable<Plans>, 'workspace_id' | 'credit_package_id'>> & {
  /** Its credit package; null = none. The default is 100 credits a month. */
  credits?: Partial<Omit<Insertable<CreditPackages>, 'workspace_id'>> | null;
};

/** Makes a plan straight in the database. Returns its id. */
export async function storePlan({ workspaceId, db }: Where, fields: StoredPlanFields = {}): Promise<string> {
  const { credits = {}, ...plan } = fields;
  const [id, packageId] = [newId(), newId()];
  const number = ++made;
  const hubPackage = { workspace_id: workspaceId, id: newId(), name: `Content ${number}`, pages: ['home'] };
  await db
    .insertInto('hub_packages')
    .values({ ...hubPackage, section_ordering: '[]' })
    .execute();
  if (credits) {
    const amounts = { credit_value_cents: 1, credits_amount: 100, renewal_interval_months: 1, ...credits };
    await db
      .insertInto('credit_packages')
      .values({ workspace_id: workspaceId, id: packageId, name: `Stored credits ${number}`, ...amounts })
      .execute();
  }
  await db
    .insertInto('plans')
    .values({
      workspace_id: workspaceId,
      id,
      name: `Stored plan ${number}`,
      billing_type: 'recurring',
      billing_interval_months: 1,
      price_cents: 4900,
      currency: 'USD',
      seats_included: 3,
      credit_package_id: credits ? packageId : null,
      hub_package_id: hubPackage.id,
      ...plan,
    })
    .execute();
  return id;
}

/** Lets the hub offer a trial of the plan. */
export async function storeTrial({ workspaceId, db }: Where, planId: string | null, days = 14): Promise<void> {
  await ensureHub(db, workspaceId);
  const trial = { trial_plan_id: planId, trial_days: planId === null ? null : days };
  await updateHubRow(db, workspaceId, { ...trial, updated_at: new Date() });
}

/** Gives the hub a subdomain, so that it has pages. Returns the subdomain. */
export async function storeSubdomain({ workspaceId, db }: Where): Promise<string> {
  await ensureHub(db, workspaceId);
  const subdomain = `hub-${workspaceId}`;
  await updateHubRow(db, workspaceId, { subdomain, updated_at: new Date() });
  return subdomain;
}
