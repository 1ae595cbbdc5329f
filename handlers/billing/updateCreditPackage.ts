import { fault } from '../../core/errors.ts';
import { updateCreditPackageRow } from '../../db/queries/billing/creditPackages.ts';
import type { Handler } from '../handler.ts';
import { creditPackageBody } from './creditPackageBody.ts';

export const updateCreditPackage: Handler<'updateCreditPackage'> = async (context) => {
  const { path, body, db, workspaceId, clock, reply } = context;
  // The whole package is replaced: an optional field that is absent loses its value. A taken name is CREDIT_PACKAGE_NAME_TAKEN (db/errors.ts).
  const row = await updateCreditPackageRow(db, workspaceId, path.creditPackagePublicId, {
    name: body.name,
    credit_value_cents: body.creditValueCents,
    credits_amount: body.creditsAmount,
    extra_credits_amount: body.extraCreditsAmount ?? null,
    renewal_interval_months: body.renewalIntervalMonths ?? null,
    updated_at: clock.now(),
  });
  if (!row) throw fault('CREDIT_PACKAGE_NOT_FOUND');
  return reply(200, creditPackageBody(row));
};
