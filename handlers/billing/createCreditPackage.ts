import { newId } from '../../core/ids.ts';
import { insertCreditPackage } from '../../db/queries/billing/creditPackages.ts';
import type { Handler } from '../handler.ts';
import { creditPackageBody } from './creditPackageBody.ts';

export const createCreditPackage: Handler<'createCreditPackage'> = async ({ body, db, workspaceId, clock, reply }) => {
  const now = clock.now();
  // A name that is taken violates credit_packages_name_key, which is CREDIT_PACKAGE_NAME_TAKEN (db/errors.ts).
  const row = await insertCreditPackage(db, {
    workspace_id: workspaceId,
    id: newId(),
    name: body.name,
    credit_value_cents: body.creditValueCents,
    credits_amount: body.creditsAmount,
    extra_credits_amount: body.extraCreditsAmount ?? null,
    renewal_interval_months: body.renewalIntervalMonths ?? null,
    created_at: now,
    updated_at: now,
  });
  return reply(201, creditPackageBody(row));
};
