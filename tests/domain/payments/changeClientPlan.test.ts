import { newId } from '../../../core/ids.ts';
import { type ClientRow, findClient } from '../../../db/queries/clients/clients.ts';
import { advanceClient } from '../../../domain/clients/renewals.ts';
import { startPlan } from '../../../domain/clients/subscription.ts';
import { balancesOf } from '../../../domain/credits/credits.ts';
import { changeClientPlan, isUpgrade } from '../../../domain/payments/changeClientPlan.ts';
import { beginCheckout } from '../../../domain/payments/checkout.ts';
import { healPaymentsOf } from '../../../domain/payments/reconcile.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { applyWaiting, connectHub, paymentsContextOf, sendEvent } from '../../support/hub/payingHub.ts';
import { makeCreditPackage, makePlan } from '../../support/hub/plans.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import type { StripeEvent } from '../../support/stripe/events.ts';
import { type StripeAccountStandIn, type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';
import { inOwn, setClient, waitingClient } from '../clients/life.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let clock: TestClock;
let stripe: StripeStandIn;
let app: TestApp;
let account: StripeAccountStandIn;
let small: string;
let large: string;
let yearly: string;
let buyers = 0;

beforeAll(async () => {
  clock = new TestClock();
  stripe = await startStripe({ clock, callMs: 2000, maxRetries: 0 });
  app = await startTestApp({ clock, payments: stripe.settings });
  await connectHub(app, stripe, 'acct_1');
  account = stripe.account('acct_1');
  const plan = async (priceCents: number, creditsAmount: number, fields: object = {}) => {
    const { publicId } = await makeCreditPackage(app, { creditsAmount });
    return (await makePlan(app, { priceCents, creditPackagePublicId: publicId, ...fields })).publicId;
  };
  small = await plan(1000, 100);
  large = await plan(5000, 1000);
  yearly = await plan(20_000, 300, { billingIntervalMonths: 12 });
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

const context = () => paymentsContextOf(app);
const change = (client: ClientRow, planId: string, at?: 'now' | 'period_end') =>
  changeClientPlan(context(), { clientId: client.id, planId, at });

async function read({ id }: { id: string }): Promise<ClientRow> {
  const { db, workspaceId } = context();
  return (await findClient(db, workspaceId, id)) as ClientRow;
}

async function creditsOf({ id }: { id: string }): Promise<number | undefined> {
  const { db, workspaceId } = context();
  return (await balancesOf(db, workspaceId, [id])).get(id)?.included;
}

async function tell(events: readonly StripeEvent[]): Promise<void> {
  for (const event of events) await sendEvent(app, stripe, event).expect(200);
  await applyWaiting(app);
}

/** What is made at the provider by `work`, not told yet. */
async function made(work: () => unknown): Promise<StripeEvent[]> {
  const before = stripe.events.length;
  await work();
  return stripe.events.slice(before);
}

/** A client that has bought the plan. */
async function buy(planId: string): Promise<ClientRow> {
  buyers += 1;
  const email = `changing${buyers}@client.example`;
  const step = await beginCheckout(context(), {
    planId,
    email,
    name: 'Ana Buyer',
    workspaceName: `Changing ${buyers}`,
    kind: 'plan',
  });
  if (step.kind !== 'redirect') throw new Error(`The purchase went on as ${step.kind}`);
  const sessionId = step.url.split('/').at(-1) ?? '';
  await tell(await made(() => account.pay(sessionId)));
  const row = await context()
    .db.selectFrom('checkouts')
    .select('client_id')
    .where('provider_session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return read({ id: row.client_id ?? '' });
}

const priceAt = ({ provider_subscription_id: id }: ClientRow) =>
  ((account.subscription(id).items as { data: { price: { id: string } }[] }).data[0] as { price: { id: string } }).price
    .id;

async function priceOf(planId: string): Promise<string | null> {
  const row = await context()
    .db.selectFrom('plans')
    .select('provider_price_id')
    .where('id', '=', planId)
    .executeTakeFirstOrThrow();
  return row.provider_price_id;
}

const openIntents = async ({ id }: { id: string }) =>
  (
    await context()
      .db.selectFrom('payment_intents')
      .select('id')
      .where('subject_id', '=', id)
      .where('status', '=', 'open')
      .execute()
  ).length;

const monthly = { billing_type: 'recurring', billing_interval_months: 1, price_cents: 1000 } as const;
test.each([
  ['a cent more', { ...monthly, price_cents: 1001 }, true],
  ['the same price', monthly, false],
  ['a year that is cheaper by the month', { ...monthly, billing_interval_months: 12, price_cents: 11_999 }, false],
  ['a year that is dearer by the month', { ...monthly, billing_interval_months: 12, price_cents: 12_001 }, true],
  ['a plan that is paid once', { ...monthly, billing_type: 'one_time', price_cents: 99_999 }, false],
] as const)('%s: whether it is an upgrade', (_what, plan, expected) => {
  expect(isUpgrade(monthly, plan)).toBe(expected);
});

describe('with a subscription at the provider', () => {
  test.each([
    ['in their order', 1],
    ['backwards', -1],
  ])('an upgrade is prorated now, and events after it, %s and twice, grant nothing more', async (_order, order) => {
    const client = await buy(small);
    const events = await made(() => change(client, large));
    expect(await read(client)).toMatchObject({
      plan_id: large,
      pending_plan_id: null,
      period_end: client.period_end,
      status: 'active',
    });
    expect(await creditsOf(client)).toBe(1000);
    expect(priceAt(client)).toBe(await priceOf(large));
    const request = stripe.requests.findLast(
      ({ method, path }) => method === 'POST' && path.includes('/subscriptions/'),
    );
    expect(request?.form.proration_behavior).toBe('always_invoice');
    const invoice = events.find(({ type }) => type === 'invoice.paid')?.data.object;
    expect(invoice).toMatchObject({ billing_reason: 'subscription_update', total: 4000 });
    const told = order === 1 ? events : [...events].reverse();
    await tell([...told, ...told]);
    expect(await creditsOf(client)).toBe(1000);
    expect(await openIntents(client)).toBe(0);
  });

  test('a downgrade is pending, keeps its credits, and begins with the paid invoice of the next period', async () => {
    const client = await buy(large);
    const events = await made(() => change(client, small));
    await tell(events);
    expect(events.map(({ type }) => type)).toEqual(['customer.subscription.updated']);
    expect(await creditsOf(client)).toBe(1000);
    const { body } = await app.api('get', `/clients/${client.id}`).expect(200);
    expect(body.plan.publicId).toBe(large);
    expect(body.pendingPlan).toMatchObject({ publicId: small, effectiveAt: client.period_end?.toISOString() });
    clock.advance(32 * DAY_MS);
    const renewed = await made(() => account.passTime());
    const paid = renewed.find(
      ({ type, data }) => type === 'invoice.paid' && data.object.customer === client.provider_customer_id,
    );
    expect(paid?.data.object.total).toBe(1000);
    await tell(renewed);
    expect(await read(client)).toMatchObject({
      plan_id: small,
      pending_plan_id: null,
      period_start: client.period_end,
    });
    expect(await creditsOf(client)).toBe(100);
  });

  test('a downgrade that was to come is taken back, and an upgrade instead of it credits what was paid', async () => {
    const client = await buy(large);
    await change(client, small);
    await change(client, large);
    expect(await read(client)).toMatchObject({ plan_id: large, pending_plan_id: null });
    expect(priceAt(client)).toBe(await priceOf(large));
    await change(client, small);
    await expect(change(client, small)).rejects.toThrow('already');
    const events = await made(() => change(client, yearly, 'now'));
    const invoice = events.find(({ type }) => type === 'invoice.paid')?.data.object;
    expect(invoice?.total).toBe(20_000 - 5000);
    await tell(events.reverse());
    expect(await read(client)).toMatchObject({ plan_id: yearly, pending_plan_id: null });
    expect(await creditsOf(client)).toBe(300);
  });

  test.each([
    ['an upgrade', 'now'],
    ['a downgrade', 'period_end'],
  ] as const)('%s that the provider refuses, or breaks off, changes nothing', async (_what, at) => {
    const [from, to] = at === 'now' ? [small, large] : [large, small];
    const client = await buy(from);
    const before = await read(client);
    const credits = await creditsOf(client);
    for (const how of ['refused', 'lost'] as const) {
      // The library tries a connection that ended once more.
      stripe.fail({ path: /subscriptions/, method: 'POST', how, times: how === 'lost' ? 2 : 1 });
      const events = await made(() =>
        expect(change(client, to)).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_ERROR' }),
      );
      await tell(events);
      expect(await read(client)).toEqual(before);
      expect(await creditsOf(client)).toBe(credits);
      expect(priceAt(client)).toBe(await priceOf(from));
    }
  });

  test('a card that is refused changes nothing', async () => {
    const client = await buy(small);
    account.failCard(client.provider_customer_id);
    await expect(change(client, large)).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_ERROR' });
    expect(await read(client)).toEqual(client);
    expect(priceAt(client)).toBe(await priceOf(small));
  });

  test('an event that overtakes a downgrade waits, and what a dead process left is undone', async () => {
    const client = await buy(large);
    const { db, workspaceId } = context();
    const intent = { workspace_id: workspaceId, id: newId(), kind: 'plan_later', subject_id: client.id };
    const due = { due_at: new Date(clock.now().getTime() + 5 * 60_000), created_at: clock.now() };
    await db
      .insertInto('payment_intents')
      .values({ ...intent, ...due, account: 'acct_1' })
      .execute();
    const price = account.state.get(await priceOf(small), 'price');
    const events = await made(() =>
      account.billing.change(account.subscription(client.provider_subscription_id), price, false),
    );
    await tell(events);
    expect(await read(client)).toEqual(client);
    clock.advance(6 * 60_000);
    await healPaymentsOf(context(), new AbortController().signal);
    expect(priceAt(client)).toBe(await priceOf(large));
    await applyWaiting(app);
    expect(await read(client)).toEqual(client);
    expect(await creditsOf(client)).toBe(1000);
  });

  test('another interval at the period’s end and a free plan are refused', async () => {
    const client = await buy(large);
    const free = await storePlan(app.workspace, { price_cents: 0 });
    await expect(change(client, yearly)).rejects.toThrow('only now');
    await expect(change(client, free)).rejects.toThrow('Cancel it first');
    expect(await read(client)).toEqual(client);
  });
});

describe('without a subscription', () => {
  let cheap: string;
  let dear: string;
  beforeAll(async () => {
    cheap = await storePlan(app.workspace, { price_cents: 900 });
    dear = await storePlan(app.workspace, { price_cents: 9900, credits: { credits_amount: 700 } });
  });

  async function invoiced(planId: string, status: 'active' | 'trialing' = 'active'): Promise<ClientRow> {
    const client = await waitingClient(app.workspace);
    const now = clock.now();
    const periodEnd = status === 'trialing' ? new Date(now.getTime() + 9 * DAY_MS) : undefined;
    return inOwn(app.workspace, (trx) =>
      startPlan(trx, { client, plan: { id: planId }, status, periodEnd, key: 'start', now }),
    );
  }

  test('an upgrade is made now, and a downgrade when the period ends, without a call of the provider', async () => {
    const client = await invoiced(cheap);
    const calls = stripe.requests.length;
    expect((await change(client, dear)).at).toBe('now');
    expect(await read(client)).toMatchObject({ plan_id: dear, period_end: client.period_end });
    expect(await creditsOf(client)).toBe(700);
    expect((await change(client, cheap)).at).toBe('period_end');
    expect(await read(client)).toMatchObject({
      plan_id: dear,
      pending_plan_id: cheap,
      pending_plan_at: client.period_end,
    });
    expect(stripe.requests.length).toBe(calls);
    await inOwn(app.workspace, (trx) => advanceClient(trx, client, client.period_end as Date));
    expect(await read(client)).toMatchObject({ plan_id: cheap, pending_plan_id: null });
    expect(await creditsOf(client)).toBe(100);
  });

  test('a trial ends, and the plan begins with a period of its own', async () => {
    const client = await invoiced(cheap, 'trialing');
    await expect(change(client, dear, 'period_end')).rejects.toThrow('only change now');
    await change(client, dear);
    expect(await read(client)).toMatchObject({ plan_id: dear, status: 'active', period_start: clock.now() });
  });

  test.each([
    ['in another currency', { currency: 'EUR' }, 'EUR'],
    ['that is paid once', { billing_type: 'one_time' }, 'paid once'],
    ['that is inactive', { status: 'inactive' }, 'not active'],
    ['that was deleted', { deleted_at: new Date() }, 'No plan'],
    ['with too few seats', { seats_included: 1 }, 'seats'],
  ] as const)('a plan %s is refused, and nothing changes', async (_what, fields, message) => {
    const client = await invoiced(cheap);
    for (const number of [1, 2])
      await context()
        .db.insertInto('client_users')
        .values({
          workspace_id: client.workspace_id,
          id: newId(),
          client_id: client.id,
          name: 'Ana',
          email: `u${number}-${client.id}@b.example`,
          role: 'admin',
        })
        .execute();
    const planId = await storePlan(app.workspace, fields);
    for (const at of ['now', 'period_end'] as const) await expect(change(client, planId, at)).rejects.toThrow(message);
    expect(await read(client)).toEqual(client);
  });

  test('the plan that it has, one of another workspace, and a client that is not active are refused', async () => {
    const client = await invoiced(cheap);
    await expect(change(client, cheap)).rejects.toThrow('already');
    await expect(change(client, newId())).rejects.toMatchObject({ code: 'PLAN_NOT_FOUND' });
    await expect(change({ ...client, id: newId() }, dear)).rejects.toMatchObject({ code: 'CLIENT_NOT_FOUND' });
    for (const status of ['suspended', 'canceled', 'pending_onboarding'] as const) {
      await setClient(app.workspace, client, { status });
      await expect(change(client, dear)).rejects.toMatchObject({ code: 'CLIENT_NOT_ACTIVE' });
    }
  });
});
