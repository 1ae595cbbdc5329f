import { newId } from '../../../core/ids.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { grantCredits, openAccount } from '../../../domain/credits/credits.ts';
import type { Clients } from '../../../generated/db.ts';
import type { SeededWorkspace } from '../db/database.ts';

/** A client with an account, without a plan. `credits` are a grant. */
export async function makePayingClient(
  { workspaceId, db }: Pick<SeededWorkspace, 'workspaceId' | 'db'>,
  {
    credits = 0,
    status = 'active' as Clients['status'],
    isUnlimited = false,
    mayUseExtra = false,
    renewalAt = null as Date | null,
    now = new Date(),
  } = {},
): Promise<string> {
  const id = newId();
  await inTransaction(db, async (trx) => {
    await trx
      .insertInto('clients')
      .values({ workspace_id: workspaceId, id, name: `Client ${id}`, status, next_credit_renewal_at: renewalAt })
      .execute();
    await openAccount(trx, workspaceId, id, { isUnlimited, mayUseExtra });
    await grantCredits(trx, {
      workspaceId,
      clientId: id,
      source: 'grant',
      amount: credits,
      expiresAt: null,
      key: 'first',
      now,
    });
  });
  return id;
}
