import { selectClients } from '../../db/queries/clients/clientList.ts';
import { balancesOf } from '../../domain/credits/credits.ts';
import type { components } from '../../generated/api.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';

type Item = components['schemas']['ClientListItem'];

const CENTS = 100;

export const listClients: Handler<'listClients'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { status, q: search } = query;
  const { rows, total } = await selectClients(db, workspaceId, { status, search }, window);
  const credits = await balancesOf(
    db,
    workspaceId,
    rows.map(({ id }) => id),
  );
  const items = rows.map(
    (row): Item => ({
      publicId: row.id,
      workspaceName: row.name,
      subscriptionStatus: row.status,
      planName: row.plan_name,
      priceCents: row.price_cents,
      creditsBalance: credits.get(row.id)?.included ?? 0,
      creditsLimit: row.plan_name === null || row.unlimited_credits ? null : row.credits_included,
      extraCreditsBalance: credits.get(row.id)?.extra ?? 0,
      unlimitedCredits: row.unlimited_credits ?? false,
      seatsLimit: row.seats_included,
      usersCount: row.users,
      totalCostCents: Math.round(row.cost_usd * CENTS),
      createdAt: row.created_at.toISOString(),
    }),
  );
  return reply(200, pageOf(items, total, window));
};
