import { fault } from '../../core/errors.ts';
import { findCreditPackage } from '../../db/queries/billing/creditPackages.ts';
import type { Handler } from '../handler.ts';
import { creditPackageBody } from './creditPackageBody.ts';

export const getCreditPackage: Handler<'getCreditPackage'> = async ({ path, db, workspaceId, reply }) => {
  const row = await findCreditPackage(db, workspaceId, path.creditPackagePublicId);
  if (!row) throw fault('CREDIT_PACKAGE_NOT_FOUND');
  return reply(200, creditPackageBody(row));
};
