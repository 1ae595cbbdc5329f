import { fault } from '../../core/errors.ts';
import {
  isCreditPackageUsed,
  lockCreditPackage,
  softDeleteCreditPackage,
} from '../../db/queries/billing/creditPackages.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Handler } from '../handler.ts';

export const deleteCreditPackage: Handler<'deleteCreditPackage'> = async ({ path, db, workspaceId, clock, reply }) => {
  const id = path.creditPackagePublicId;
  await inTransaction(db, async (trx) => {
    // A plan that is being made with the package holds its row: this waits for it, and finds the plan.
    if (!(await lockCreditPackage(trx, workspaceId, id, 'update'))) throw fault('CREDIT_PACKAGE_NOT_FOUND');
    if (await isCreditPackageUsed(trx, workspaceId, id)) throw fault('CREDIT_PACKAGE_IN_USE');
    await softDeleteCreditPackage(trx, workspaceId, id, clock.now());
  });
  return reply(204);
};
