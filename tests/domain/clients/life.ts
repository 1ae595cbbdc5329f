import type { Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import { type ClientRow, findClient, updateClientRow } from '../../../db/queries/clients/clients.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { balancesOf, openAccount } from '../../../domain/credits/credits.ts';
import type { DB } from '../../../generated/db.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';

type Where = Pick<SeededWorkspace, 'workspaceId' | 'db'>;

/** A client that waits for a plan, with an account, without users. */
export async function waitingClient({ workspaceId, db }: Where): Promise<ClientRow> {
  const id = newId();
  return inTransaction(db, async (trx) => {
    const values = { workspace_id: workspaceId, id, name: `Client ${id}`, status: 'pending_onboarding' as const };
    const row = await trx.insertInto('clients').values(values).returningAll().executeTakeFirstOrThrow();
    await openAccount(trx, workspaceId, id, { isUnlimited: false, mayUseExtra: false });
    return row;
  });
}

/** Changes the row of a client directly. */
export function setClient({ db }: Where, row: ClientRow, change: Parameters<typeof updateClientRow>[2]) {
  return inTransaction(db, (trx) => updateClientRow(trx, row, change));
}

/** Runs a change of a subscription in a transaction of its own. */
export function inOwn<Result>({ db }: Where, work: (trx: Transaction<DB>) => Promise<Result>): Promise<Result> {
  return inTransaction(db, work);
}

/** What is left of the included credits, and what was used. */
export async function creditsOf(
  { workspaceId, db }: Where,
  { id }: Pick<ClientRow, 'id'>,
): Promise<number | undefined> {
  return (await balancesOf(db, workspaceId, [id])).get(id)?.included;
}

/** A few facts of a client, with times as text. */
export async function factsOf({ workspaceId, db }: Where, { id }: Pick<ClientRow, 'id'>) {
  const row = await findClient(db, workspaceId, id);
  const text = (at: Date | null | undefined) => at?.toISOString().replace('T00:00:00.000Z', '') ?? null;
  return {
    status: row?.status,
    start: text(row?.period_start),
    end: text(row?.period_end),
    credits: await creditsOf({ workspaceId, db }, { id }),
    again: text(row?.next_credit_renewal_at),
  };
}
