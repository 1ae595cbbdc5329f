import { type ClientRow, findClient } from '../../../db/queries/clients/clients.ts';
import { balancesOf } from '../../../domain/credits/credits.ts';
import { beginCheckout, type Purchase } from '../../../domain/payments/checkout.ts';
import type { components } from '../../../generated/api.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeCoupon } from '../../support/hub/coupons.ts';
import { applyWaiting, connectHub, paymentsContextOf, sendEvent } from '../../support/hub/payingHub.ts';
import { makeCreditPackage, makePlan } from '../../support/hub/plans.ts';
import { inOldShape, type StripeEvent } from '../../support/stripe/events.ts';
import { type StripeAccountStandIn, type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let clock: TestClock;
let stripe: StripeStandIn;
let app: TestApp;
let account: StripeAccountStandIn;
let plan: components['schemas']['Plan'];
let buyers = 0;

beforeAll(async () => {
  clock = new TestClock();
  stripe = await startStripe({ clock, callMs: 2000, maxRetries: 0 });
  app = await startTestApp({ clock, payments: stripe.settings });
  await connectHub(app, stripe, 'acct_1');
  account = stripe.account('acct_1');
  const creditPackage = await makeCreditPackage(app, { creditsAmount: 100, creditValueCents: 10 });
  plan = await makePlan(app, {
    creditPackagePublicId: creditPackage.publicId,
    extraCreditsEnabled: true,
    extraCreditsPriceCents: 500,
  });
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

const context = () => paymentsContextOf(app);

function purchase(fields: Partial<Purchase> = {}): Purchase {
  buyers += 1;
  return {
    planId: plan.publicId,
    email: `buyer${buyers}@client.example`,
    name: 'Ana Buyer',
    workspaceName: `Client ${buyers}`,
    kind: 'plan',
    ...fields,
  };
}

/** Begins a purchase and pays it. Returns the page and the events that the payment made. */
async function buy(fields: Partial<Purchase> = {}): Promise<{ sessionId: string; events: StripeEvent[] }> {
  const step = await beginCheckout(context(), purchase(fields));
  if (step.kind !== 'redirect') throw new Error(`The purchase went on as ${step.kind}`);
  const sessionId = step.url.split('/').at(-1) ?? '';
  const before = stripe.events.length;
  account.pay(sessionId);
  return { sessionId, events: stripe.events.slice(before) };
}

async function tell(events: readonly StripeEvent[]): Promise<void> {
  for (const event of events) await sendEvent(app, stripe, event).expect(200);
  await applyWaiting(app);
}

/** What happens at the provider by `work`, told. */
async function happens(work: () => unknown): Promise<StripeEvent[]> {
  const before = stripe.events.length;
  work();
  const events = stripe.events.slice(before);
  await tell(events);
  return events;
}

async function clientOf(sessionId: string): Promise<ClientRow> {
  const { db, workspaceId } = context();
  const row = await db
    .selectFrom('checkouts')
    .select('client_id')
    .where('workspace_id', '=', workspaceId)
    .where('provider_session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  const client = await findClient(db, workspaceId, row.client_id ?? '');
  if (!client) throw new Error('Nobody has bought');
  return client;
}

async function creditsOf({ id }: { id: string }) {
  const { db, workspaceId } = context();
  const { included, extra } = (await balancesOf(db, workspaceId, [id])).get(id) ?? {};
  return { included, extra };
}

const permutations = <Item>(items: readonly Item[]): Item[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, at) =>
        permutations(items.filter((_, other) => other !== at)).map((rest) => [item, ...rest]),
      );

/** Which invoice a payment of the stand-in paid for. */
const invoiceOf = (payment: unknown) =>
  String(
    account.state
      .all('invoice_payment')
      .find((each) => (each.payment as { payment_intent: string }).payment_intent === payment)?.invoice,
  );

test.each(['new', 'old'] as const)(
  'every order of the events of a purchase, each told twice, gives one state (%s shape)',
  async (shape) => {
    const { events: sample } = await buy();
    expect(sample.map(({ type }) => type).sort()).toEqual([
      'checkout.session.completed',
      'customer.subscription.created',
      'invoice.paid',
    ]);
    await tell(sample);
    for (const order of permutations([0, 1, 2])) {
      const { sessionId, events } = await buy();
      const told = order
        .flatMap((at) => events.slice(at, at + 1))
        .map((each) => (shape === 'old' ? inOldShape(each, invoiceOf) : each));
      for (const event of [...told, ...told]) await tell([event]);
      const client = await clientOf(sessionId);
      expect(client).toMatchObject({ status: 'active', plan_id: plan.publicId });
      expect(client.period_end?.getTime()).toBeGreaterThan(clock.now().getTime() + 27 * DAY_MS);
      expect(await creditsOf(client)).toEqual({ included: 100, extra: 0 });
    }
  },
);

test('a client is renewed by its paid invoices, past due while one fails, and active again when it is paid', async () => {
  const { sessionId, events } = await buy();
  await tell(events);
  const { id, provider_customer_id: customer, period_end: firstEnd } = await clientOf(sessionId);
  account.failCard(customer);
  clock.advance(32 * DAY_MS);
  await happens(() => account.passTime());
  expect(await clientOf(sessionId)).toMatchObject({ status: 'past_due', period_end: firstEnd });
  account.failCard(customer, false);
  const paid = await happens(() => account.retryPayments());
  await tell([...paid].reverse());
  const client = await clientOf(sessionId);
  expect(client).toMatchObject({ status: 'active', period_start: firstEnd });
  expect(await creditsOf({ id })).toEqual({ included: 100, extra: 0 });
  await happens(() => account.cancel(client.provider_subscription_id));
  expect(await clientOf(sessionId)).toMatchObject({ status: 'canceled' });
  expect(await creditsOf({ id })).toEqual({ included: 0, extra: 0 });
  await tell(events);
  expect(await clientOf(sessionId)).toMatchObject({ status: 'canceled' });
});

test('a subscription that is paused is past due until it is resumed', async () => {
  const { sessionId, events } = await buy();
  await tell(events);
  const { provider_subscription_id: id } = await clientOf(sessionId);
  await happens(() => account.pause(id));
  expect(await clientOf(sessionId)).toMatchObject({ status: 'past_due' });
  await happens(() => account.resume(id));
  expect(await clientOf(sessionId)).toMatchObject({ status: 'active' });
});

test('refunds take credits back in proportion, rounded down, and a dispute all of them until it is won', async () => {
  const { sessionId, events } = await buy();
  await tell(events);
  const client = await clientOf(sessionId);
  const charge = account.chargeOf({ invoice: account.subscription(client.provider_subscription_id).latest_invoice });
  await happens(() => account.refund(charge, 1633));
  expect(await creditsOf(client)).toEqual({ included: 67, extra: 0 });
  let dispute = charge;
  await happens(() => {
    dispute = account.dispute(charge);
  });
  expect(await creditsOf(client)).toEqual({ included: 0, extra: 0 });
  const closed = await happens(() => account.closeDispute(dispute, 'won'));
  await tell(closed);
  expect(await creditsOf(client)).toEqual({ included: 67, extra: 0 });
  await happens(() => account.refund(charge));
  expect(await creditsOf(client)).toEqual({ included: 0, extra: 0 });
});

test('a pack of extra credits is granted once, and taken back by a refund', async () => {
  const { sessionId, events } = await buy();
  await tell(events);
  const client = await clientOf(sessionId);
  const pack = await buy({ kind: 'extra_credits', clientId: client.id });
  await tell([...pack.events, ...pack.events]);
  expect(await creditsOf(client)).toEqual({ included: 100, extra: 50 });
  await happens(() => account.refund(account.chargeOf({ session: pack.sessionId })));
  expect(await creditsOf(client)).toEqual({ included: 100, extra: 0 });
});

test('a buyer who begins twice gets one page, and a client with a subscription no second one', async () => {
  const { sessionId, events } = await buy();
  await tell(events);
  const { id } = await clientOf(sessionId);
  expect(await beginCheckout(context(), purchase({ clientId: id }))).toEqual({ kind: 'refused', reason: 'subscribed' });
  const same = purchase();
  const first = await beginCheckout(context(), same);
  expect(await beginCheckout(context(), same)).toEqual(first);
  const raced = purchase();
  const steps = await Promise.all(Array.from({ length: 5 }, () => beginCheckout(context(), raced)));
  const urls = new Set(steps.flatMap((step) => (step.kind === 'redirect' ? [step.url] : [])));
  expect(urls.size).toBe(1);
});

test('a page that expires gives the use of its coupon back, and so does one that cannot be made', async () => {
  const coupon = await makeCoupon(app, { code: 'ONLY_ONE', maxUses: 1 });
  const uses = async () => (await app.api('get', `/billing/coupons/${coupon.publicId}`).expect(200)).body.timesUsed;
  stripe.fail({ path: /checkout/, method: 'POST', how: 'refused' });
  const failing = beginCheckout(context(), purchase({ couponCode: 'ONLY_ONE' }));
  await expect(failing).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_ERROR' });
  expect(await uses()).toBe(0);
  await beginCheckout(context(), purchase({ couponCode: 'ONLY_ONE' }));
  expect(await uses()).toBe(1);
  await expect(beginCheckout(context(), purchase({ couponCode: 'ONLY_ONE' }))).rejects.toMatchObject({
    code: 'COUPON_RULE_VIOLATED',
  });
  clock.advance(3 * 60 * 60 * 1000);
  await happens(() => account.passTime());
  expect(await uses()).toBe(0);
});

describe('an event is refused', () => {
  const event = (fields: object = {}) => ({
    id: 'evt_forged',
    object: 'event' as const,
    type: 'invoice.paid',
    created: Math.floor(clock.now().getTime() / 1000),
    livemode: false,
    api_version: '2026-10-28.endive',
    account: 'acct_1',
    data: { object: { id: 'in_1', object: 'invoice' } },
    ...fields,
  });

  test('with another secret', async () => {
    await sendEvent(app, { ...stripe, webhookSecret: 'whsec_other' }, event()).expect(400);
  });
  test('when it is older than five minutes', async () => {
    const sending = sendEvent(app, stripe, event());
    clock.advance(6 * 60_000);
    await sending.expect(400);
  });
  test('when its body was changed', async () => {
    await sendEvent(app, stripe, event()).send('{}').expect(400);
  });
  test('when it is of the other mode', async () => {
    await sendEvent(app, stripe, event({ livemode: true })).expect(400);
  });
  test('and one of an account without a hub is ignored', async () => {
    const { body } = await sendEvent(app, stripe, event({ account: 'acct_foreign' })).expect(200);
    expect(body).toEqual({ received: false });
  });
});
