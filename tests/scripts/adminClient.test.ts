import { newId } from '../../core/ids.ts';
import { findClient } from '../../db/queries/clients/clients.ts';
import { waitingClient } from '../domain/clients/life.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';
import { storePlan } from '../support/hub/storedPlans.ts';
import { admin, adminJson } from '../support/scripts/admin.ts';

let database: TestDatabase;
let workspace: SeededWorkspace;
let planId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await database.seedWorkspace();
  planId = await storePlan(workspace);
});
afterAll(() => database.drop());

const rowOf = (id: string) => findClient(workspace.db, workspace.workspaceId, id);

/** A client that asked for the plan by invoice, with a coupon if one is given. */
async function asking(couponId: string | null = null) {
  const { id } = await waitingClient(workspace);
  const checkout = {
    workspace_id: workspace.workspaceId,
    id: newId(),
    plan_id: planId,
    client_id: id,
    coupon_id: couponId,
  };
  await workspace.db
    .insertInto('checkouts')
    .values({
      ...checkout,
      kind: 'plan',
      email: 'a@b.example',
      name: 'Ana',
      workspace_name: 'Acme',
      status: 'invoice',
      amount_cents: 4900,
      expires_at: new Date(),
    })
    .execute();
  return { id, checkoutId: checkout.id };
}

async function storeCoupon(fields: {
  duration: 'once' | 'repeating' | 'forever';
  duration_months?: number;
}): Promise<string> {
  const id = newId();
  const discount = {
    discount_type: 'percentage' as const,
    discount_value: 10,
    scope: 'hub' as const,
    valid_from: new Date(),
  };
  await workspace.db
    .insertInto('coupons')
    .values({
      workspace_id: workspace.workspaceId,
      id,
      code: `C_${id.slice(-12)}`,
      times_used: 1,
      ...discount,
      ...fields,
    })
    .execute();
  return id;
}

describe('client activate', () => {
  test('begins the plan that was asked for, once, and the request is over', async () => {
    const { id, checkoutId } = await asking();
    expect(await adminJson(database, 'client', 'activate', id)).toMatchObject({
      subscriptionStatus: 'active',
      planPublicId: planId,
    });
    const checkout = await workspace.db
      .selectFrom('checkouts')
      .selectAll()
      .where('id', '=', checkoutId)
      .executeTakeFirstOrThrow();
    expect([checkout.status, checkout.completed_at]).toEqual(['completed', expect.any(Date)]);
    const again = await admin(database, 'client', 'activate', id);
    expect([again.code, again.stderr]).toEqual([1, `error: Client ${id} is active, and waits for no plan\n`]);
  });

  test.each([
    ['once', {}, 1],
    ['repeating', { duration_months: 3 }, 3],
    ['forever', {}, null],
  ] as const)('a coupon that holds %s ends when it says', async (duration, fields, months) => {
    const couponId = await storeCoupon({ duration, ...fields });
    const { id } = await asking(couponId);
    await adminJson(database, 'client', 'activate', id);
    const row = await rowOf(id);
    expect(row?.coupon_id).toBe(couponId);
    const end = row?.coupon_ends_at ?? null;
    const days =
      end && row?.period_start ? Math.round((end.getTime() - row.period_start.getTime()) / 86_400_000 / 30.5) : null;
    expect(days).toBe(months);
    const { times_used: used } = await workspace.db
      .selectFrom('coupons')
      .select('times_used')
      .where('id', '=', couponId)
      .executeTakeFirstOrThrow();
    expect(used).toBe(1);
  });

  test('--plan names another plan; without one and without a request nothing begins', async () => {
    const { id } = await waitingClient(workspace);
    const refused = await admin(database, 'client', 'activate', id);
    expect([refused.code, refused.stderr]).toEqual([1, 'error: The client has asked for no plan.\n']);
    expect((await admin(database, 'client', 'activate', id, '--plan', newId())).code).toBe(1);
    expect((await rowOf(id))?.status).toBe('pending_onboarding');
    expect(await adminJson(database, 'client', 'activate', id, '--plan', planId)).toMatchObject({
      planPublicId: planId,
    });
  });
});

test('client activate with another plan gives the coupons of open requests back', async () => {
  const couponId = await storeCoupon({ duration: 'forever' });
  const { id, checkoutId } = await asking(couponId);
  const otherPlanId = await storePlan(workspace);
  await adminJson(database, 'client', 'activate', id, '--plan', otherPlanId);
  const { db } = workspace;
  const { status } = await db
    .selectFrom('checkouts')
    .select('status')
    .where('id', '=', checkoutId)
    .executeTakeFirstOrThrow();
  const { times_used: used } = await db
    .selectFrom('coupons')
    .select('times_used')
    .where('id', '=', couponId)
    .executeTakeFirstOrThrow();
  expect([status, used, (await rowOf(id))?.coupon_id]).toEqual(['expired', 0, null]);
});

test('client change-plan: an upgrade now, another plan at the end of the period, and a refusal with its reason', async () => {
  const { id } = await asking();
  await adminJson(database, 'client', 'activate', id);
  const dear = await storePlan(workspace, { price_cents: 9900 });
  const changePlan = (plan: string, ...more: string[]) =>
    adminJson(database, 'client', 'change-plan', '--client', id, '--plan', plan, ...more);
  expect(await changePlan(dear)).toMatchObject({ planPublicId: dear, pendingPlanPublicId: null });
  const { currentPeriodEnd } = await adminJson(database, 'client', 'show', id);
  const pending = { planPublicId: dear, pendingPlanPublicId: planId, pendingPlanEffectiveAt: currentPeriodEnd };
  expect(await changePlan(planId)).toMatchObject(pending);
  expect(await changePlan(planId, '--now')).toMatchObject({ planPublicId: planId, pendingPlanPublicId: null });
  expect(await changePlan(dear, '--at-period-end')).toMatchObject({ planPublicId: planId, pendingPlanPublicId: dear });
  const refused = await admin(database, 'client', 'change-plan', '--client', id, '--plan', newId());
  expect([refused.code, refused.stderr]).toEqual([1, 'error: No plan with this id exists in the hub.\n']);
});

test('client list and show: names are printed on one line, and the status narrows the list', async () => {
  const { id } = await waitingClient(workspace);
  await workspace.db.updateTable('clients').set({ name: 'Bad\u001b[2K\nname' }).where('id', '=', id).execute();
  const waiting = await adminJson(
    database,
    'client',
    'list',
    '--workspace',
    workspace.workspaceId,
    '--status',
    'pending_onboarding',
  );
  expect(waiting.map((row: { clientPublicId: string }) => row.clientPublicId)).toEqual([id]);
  for (const args of [['list'], ['show', id]]) {
    const { stdout } = await admin(database, 'client', ...args);
    expect(stdout).toContain('Bad\\u001b[2K\\u000aname');
  }
  await adminJson(database, 'client', 'activate', id, '--plan', planId);
  const shown = await adminJson(database, 'client', 'show', id);
  expect(shown).toMatchObject({
    subscriptionStatus: 'active',
    creditsBalance: 100,
    users: [],
    changes: [{ kind: 'start', status: 'active', key: 'activate' }],
  });
  expect((await admin(database, 'client', 'show', newId())).code).toBe(1);
});

test('client credit grant: once for a key', async () => {
  const { id } = await waitingClient(workspace);
  const grant = (...args: string[]) => adminJson(database, 'client', 'credit', 'grant', id, ...args);
  expect(await grant('--credits', '25', '--key', 'k', '--note', 'sorry')).toMatchObject({
    granted: 25,
    creditsBalance: 25,
  });
  expect(await grant('--credits', '25', '--key', 'k')).toMatchObject({ granted: 0, creditsBalance: 25 });
  expect(await grant('--credits', '5', '--expires', '2999-01-31')).toMatchObject({ creditsBalance: 30 });
});

test('hub trial: set and off', async () => {
  const where = ['--workspace', workspace.workspaceId];
  const trial = () => workspace.db.selectFrom('hubs').select(['trial_plan_id', 'trial_days']).executeTakeFirst();
  await adminJson(database, 'hub', 'trial', 'set', ...where, '--plan', planId, '--days', '365');
  expect(await trial()).toEqual({ trial_plan_id: planId, trial_days: 365 });
  const foreign = await storePlan(await database.seedWorkspace());
  const refused = await admin(database, 'hub', 'trial', 'set', ...where, '--plan', foreign, '--days', '1');
  expect([refused.code, refused.stderr]).toEqual([1, 'error: No plan with this id exists in the hub.\n']);
  await adminJson(database, 'hub', 'trial', 'off', ...where);
  expect(await trial()).toEqual({ trial_plan_id: null, trial_days: null });
});

const ID = newId();
test.each([
  ['a trial of no days', ['hub', 'trial', 'set', '--workspace', ID, '--plan', ID, '--days', '0']],
  ['a trial of more than a year', ['hub', 'trial', 'set', '--workspace', ID, '--plan', ID, '--days', '366']],
  ['a trial without a plan', ['hub', 'trial', 'set', '--workspace', ID, '--days', '3']],
  ['a verb that is none', ['hub', 'trial', 'on', '--workspace', ID]],
  ['days for no trial', ['hub', 'trial', 'off', '--workspace', ID, '--days', '3']],
  ['a status that is none', ['client', 'list', '--status', 'gone']],
  ['an id that is none', ['client', 'show', 'x']],
  ['no credits', ['client', 'credit', 'grant', ID, '--credits', '0']],
  ['a credit that is no number', ['client', 'credit', 'grant', ID, '--credits', 'ten']],
  ['a past end', ['client', 'credit', 'grant', ID, '--credits', '1', '--expires', '2020-01-01']],
  ['two times of a change', ['client', 'change-plan', '--client', ID, '--plan', ID, '--now', '--at-period-end']],
  ['a change to no plan', ['client', 'change-plan', '--client', ID]],
  ['another verb of credits', ['client', 'credit', 'take', ID, '--credits', '1']],
])('%s is refused', async (_what, args) => {
  expect((await admin(database, ...args)).code).toBe(2);
});
