import type { Kysely } from 'kysely';
import { ApiError, fault } from '../../core/errors.ts';
import { databaseFault } from '../../db/errors.ts';
import { findPlan, type PlanRow, type ShownPlanRow } from '../../db/queries/billing/plans.ts';
import { findHub } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import type { DB } from '../../generated/db.ts';
import type { MirroredPlan, PaymentProvider, PlanObjects } from '../../integrations/payments/provider.ts';
import type { WorkspaceContext } from '../context.ts';
import { hubUrlOf } from '../hubs/hubUrl.ts';
import { type MirroredPlanRow, mirroredPlan, planColumnsOf, planObjectsOf } from '../payments/mirror.ts';
import { accountOf, findHubPayments, paymentsOf } from '../payments/paymentsOf.ts';
import { type MadeAtProvider, makeAtProvider, withIntent } from '../payments/withIntent.ts';
import { changePlan, dropPlan, type PlanChange } from './changePlan.ts';
import { currencyDigits } from './currencies.ts';
import { addPlan, type PlanContext, planPlan } from './plans.ts';

type NewPlan = components['schemas']['PlanCreate'];

/** Stores what was prepared, in the caller's transaction if there is one. */
export type StorePrepared<Row> = (context: PlanContext) => Promise<Row>;

/**
 * Makes the objects of a new plan at the payment provider, if the hub has one and the plan costs something, after a rehearsal of the rest has
 * found nothing wrong. Returns what stores the plan; when that fails, the objects are removed. Throws what `planPlan` and `addPlan` throw, and
 * PAYMENT_PROVIDER_ERROR.
 */
export async function prepareNewPlan(context: WorkspaceContext, body: NewPlan): Promise<StorePrepared<ShownPlanRow>> {
  const row = planPlan(body, { workspaceId: context.workspaceId, now: context.clock.now() });
  const hub = await findHubPayments(context.db, context.workspaceId);
  if (row.price_cents === 0 || !accountOf(hub)) return (store) => addPlan(store, row, body);
  paymentsOf(context, hub);
  await rehearse(context.db, (db) => addPlan({ ...context, db }, row, body));
  const mirrored = await mirroredOf(context, row);
  const intended = { kind: 'plan' as const, subjectId: row.id, hub };
  const prepared = await makeAtProvider(context, intended, (provider, key) => provider.createPlan(key, mirrored));
  return (store) => storeMade(store, prepared, (objects) => addPlan(store, row, body, planColumnsOf(objects)));
}

/** Stores what was made at the provider; undoes it when that fails for good. */
export async function storeMade<Made, Row>(
  store: PlanContext,
  { made, settle, undo }: MadeAtProvider<Made>,
  work: (made: Made | null) => Promise<Row>,
): Promise<Row> {
  try {
    const row = await work(made);
    await settle(store.db);
    return row;
  } catch (error) {
    const known = error instanceof ApiError ? error : databaseFault(error);
    // A transaction that lost to another one runs again; and a database that is out of reach may have stored it: the reconciler looks.
    if (known === undefined || known.code === 'UNAVAILABLE') throw error;
    const undone = undo(error);
    // Nothing waits for another server within a transaction.
    if (!store.db.isTransaction) await undone;
    throw error;
  }
}

/** Runs work that stores something, and stores nothing: what is wrong with it is found before the provider is asked. Returns what the work returned. */
export async function rehearse<Result>(db: Kysely<DB>, work: (db: Kysely<DB>) => Promise<Result>): Promise<Result> {
  const over = new Error('The rehearsal is over.');
  let outcome: { result: Result } | undefined;
  const run = inTransaction(db, async (trx) => {
    outcome = { result: await work(trx) };
    throw over;
  });
  await run.catch((error: unknown) => {
    if (error !== over) throw error;
  });
  if (!outcome) throw over;
  return outcome.result;
}

async function mirroredOf({ db, workspaceId, runtime }: WorkspaceContext, row: MirroredPlanRow): Promise<MirroredPlan> {
  const hub = await findHub(db, workspaceId);
  const returnUrl = hubUrlOf(runtime, hub?.subdomain ?? null);
  return mirroredPlan(row, { currencyDigits: currencyDigits(row.currency) ?? 2, returnUrl });
}

/** Changes a plan here and at the payment provider, or neither. Throws what `changePlan` throws, and PAYMENT_PROVIDER_ERROR. */
export async function changeMirroredPlan(
  context: WorkspaceContext,
  id: string,
  body: PlanChange,
): Promise<ShownPlanRow> {
  const hub = await findHubPayments(context.db, context.workspaceId);
  const plan = await findPlan(context.db, context.workspaceId, id);
  if (!plan) throw fault('PLAN_NOT_FOUND');
  if (!accountOf(hub) || !isSeenAtProvider(plan, body)) return changePlan(context, id, body);
  await rehearse(context.db, (db) => changePlan({ ...context, db }, id, body));
  const changed = {
    ...plan,
    name: body.name ?? plan.name,
    description: body.description ?? plan.description,
    status: body.status ?? plan.status,
    price_cents: body.priceCents ?? plan.price_cents,
  };
  const present = planObjectsOf(plan);
  if (!present && changed.price_cents === 0) return changePlan(context, id, body);
  const mirrored = await mirroredOf(context, changed);
  return withIntent(
    context,
    { kind: 'plan', subjectId: id, hub },
    {
      make: (provider, key) => bring(provider, key, present, mirrored),
      store: (objects) => changePlan(context, id, body, isSame(objects, present) ? {} : planColumnsOf(objects)),
    },
  );
}

/** Whether a change is of something that the provider has, too, or the plan has no objects there yet. */
function isSeenAtProvider(plan: PlanRow, { name, description, status, priceCents }: PlanChange): boolean {
  return [name, description, status, priceCents].some((value) => value !== undefined) || !plan.provider_product_id;
}

async function bring(
  provider: PaymentProvider,
  key: string,
  present: PlanObjects | null,
  plan: MirroredPlan,
): Promise<PlanObjects | null> {
  if (!present) return provider.createPlan(key, plan);
  if (plan.priceCents > 0) return provider.changePlan(key, present, plan);
  await provider.archivePlan(key, present);
  return null;
}

/** What another request has stored meanwhile must not be overwritten by what this one has only read. */
function isSame(one: PlanObjects | null, other: PlanObjects | null): boolean {
  return (
    one?.productId === other?.productId &&
    one?.priceId === other?.priceId &&
    one?.paymentLinkId === other?.paymentLinkId &&
    one?.paymentLinkUrl === other?.paymentLinkUrl
  );
}

/** Deletes a plan here, and archives it at the payment provider, or neither. Throws what `dropPlan` throws, and PAYMENT_PROVIDER_ERROR. */
export async function dropMirroredPlan(context: WorkspaceContext, id: string): Promise<void> {
  const hub = await findHubPayments(context.db, context.workspaceId);
  const plan = await findPlan(context.db, context.workspaceId, id);
  const objects = plan && planObjectsOf(plan);
  if (!objects || !accountOf(hub)) return dropPlan(context, id);
  await rehearse(context.db, (db) => dropPlan({ ...context, db }, id));
  await withIntent(
    context,
    { kind: 'plan', subjectId: id, hub },
    {
      make: (provider, key) => provider.archivePlan(key, objects),
      store: () => dropPlan(context, id),
    },
  );
}
