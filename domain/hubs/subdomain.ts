import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import {
  insertHubName,
  releaseName,
  removeOldNames,
  selectReleases,
  takeBackName,
} from '../../db/queries/hubs/hubNames.ts';
import { ensureHub, type HubRow, lockHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import { RELEASED_NAME_MS } from '../../runtime/hubs/hubNames.ts';
import type { WorkspaceContext } from '../context.ts';
import { hubUrlOf } from './hubUrl.ts';
import { withNewLinks } from './paymentLinks.ts';
import { isReservedSubdomain } from './reservedSubdomains.ts';

/** Names that one hub may block for others at a time, after it has given them up. */
const MAX_RELEASED = 20;

/** Why a hub cannot move to a subdomain. */
export type SubdomainObstacle = 'reserved' | 'taken';

/**
 * Why the hub of the workspace cannot move to a subdomain, in lower case; null when it can. The one that it has counts as taken, one that it
 * gave up does not.
 */
export async function subdomainObstacle(
  { workspaceId, runtime }: Pick<WorkspaceContext, 'workspaceId' | 'runtime'>,
  subdomain: string,
): Promise<SubdomainObstacle | null> {
  if (isReservedSubdomain(subdomain)) return 'reserved';
  const row = await runtime.hubNames.blocker(subdomain);
  return row && (row.released_at === null || row.workspace_id !== workspaceId) ? 'taken' : null;
}

/**
 * Moves the hub to a subdomain; nothing happens when it is there already. The one that it had leads nowhere from then on, and no other hub
 * gets it for 30 days. Throws SUBDOMAIN_RESERVED, SUBDOMAIN_TAKEN, RATE_LIMITED for a hub that moves all the time, and
 * PAYMENT_PROVIDER_ERROR; then the hub stays where it is.
 */
export async function moveHub(context: WorkspaceContext, subdomain: string): Promise<HubRow> {
  const { db, workspaceId, clock, runtime } = context;
  const hub = await ensureHub(db, workspaceId, clock.now());
  if (hub.subdomain === subdomain) return hub;
  if (isReservedSubdomain(subdomain)) throw fault('SUBDOMAIN_RESERVED');
  // A row of the hub's own is no obstacle: another request may be moving it there at this moment.
  const row = await runtime.hubNames.blocker(subdomain);
  if (row && row.workspace_id !== workspaceId) throw fault('SUBDOMAIN_TAKEN');
  return await withNewLinks(context, hub, hubUrlOf(runtime, subdomain), (storeLinks) =>
    inTransaction(db, async (trx) => {
      const moved = await moveName(trx, workspaceId, { subdomain, now: clock.now() });
      await storeLinks(trx);
      return moved;
    }),
  );
}

async function moveName(
  trx: Transaction<DB>,
  workspaceId: string,
  { subdomain, now }: { subdomain: string; now: Date },
): Promise<HubRow> {
  const before = await lockHub(trx, workspaceId, now);
  // Another request may have been faster with the same.
  if (before.subdomain === subdomain) return before;
  // A name that another hub took meanwhile violates hub_names_pkey, which is SUBDOMAIN_TAKEN (db/errors.ts).
  if (!(await takeBackName(trx, workspaceId, subdomain)))
    await insertHubName(trx, { name: subdomain, workspace_id: workspaceId, kind: 'subdomain', created_at: now });
  if (before.subdomain !== null) await leaveName(trx, workspaceId, before.subdomain, now);
  return await updateHubRow(trx, workspaceId, { subdomain, updated_at: now });
}

async function leaveName(trx: Transaction<DB>, workspaceId: string, name: string, now: Date): Promise<void> {
  await removeOldNames(trx, workspaceId, new Date(now.getTime() - RELEASED_NAME_MS));
  const released = await selectReleases(trx, workspaceId);
  const oldest = released[0];
  if (oldest && released.length >= MAX_RELEASED) {
    const waitMs = oldest.getTime() + RELEASED_NAME_MS - now.getTime();
    const why = `The hub has given up ${MAX_RELEASED} subdomains within 30 days, and cannot move again yet.`;
    throw fault('RATE_LIMITED', why, { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } });
  }
  await releaseName(trx, workspaceId, name, now);
}
