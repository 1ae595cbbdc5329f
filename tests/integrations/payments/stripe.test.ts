import {
  type CheckoutRequest,
  type MirroredCoupon,
  type MirroredPlan,
  PaymentProviderError,
} from '../../../integrations/payments/provider.ts';
import { stripeProvider } from '../../../integrations/payments/stripe/stripe.ts';
import { STRIPE_API_VERSION } from '../../../integrations/payments/version.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';

const PLAN: MirroredPlan = {
  id: 'plan-1',
  name: 'Pro',
  description: null,
  priceCents: 4900,
  currency: 'USD',
  currencyDigits: 2,
  intervalMonths: 1,
  isActive: true,
  returnUrl: 'https://acme.hub.example/thanks',
};
const COUPON: MirroredCoupon = {
  id: 'coupon-1',
  code: 'HALF_OFF',
  name: null,
  isActive: true,
  discount: { percent: 50 },
  duration: 'once',
  durationMonths: null,
  productIds: null,
  maxUses: 3,
  validUntil: null,
};
const NOW = new Date('2026-11-22T12:00:00Z');
const CHECKOUT: Omit<CheckoutRequest, 'item'> = {
  checkoutId: 'checkout-1',
  workspaceId: 'workspace-1',
  email: 'ana@client.example',
  customerId: null,
  totalCents: 4900,
  currency: 'USD',
  currencyDigits: 2,
  couponId: null,
  successUrl: 'https://acme.hub.example/thanks',
  cancelUrl: 'https://acme.hub.example/pricing',
  brand: { name: 'Acme', color: '#112233' },
  expiresAt: new Date(NOW.getTime() + 3_600_000),
};

let stripe: StripeStandIn;
let count = 0;
const newKey = () => `key-${++count}`;
const connect = (feePercent: number | null = null) =>
  stripeProvider(stripe.settings, { account: 'acct_1', feePercent });

beforeEach(async () => {
  stripe = await startStripe({ clock: { now: () => NOW }, callMs: 300, maxRetries: 1 });
  stripe.account('acct_1');
});
afterEach(() => stripe.close());

test('every call is for the account, with the pinned version, and each change has an idempotency key of its own', async () => {
  const provider = connect();
  const made = await provider.createPlan(newKey(), PLAN);
  const { priceId } = await provider.changePlan(newKey(), made, { ...PLAN, priceCents: 5900 });
  const coupon = await provider.createCoupon(newKey(), COUPON);
  const { sessionId } = await provider.createCheckout(newKey(), { ...CHECKOUT, item: { kind: 'recurring', priceId } });
  await provider.expireCheckout(newKey(), sessionId);
  await provider.deleteCoupon(newKey(), coupon);
  await provider.archivePlan(newKey(), made);
  expect(stripe.requests.length).toBeGreaterThan(10);
  expect(new Set(stripe.requests.map(({ account }) => account))).toEqual(new Set(['acct_1']));
  expect(new Set(stripe.requests.map(({ version }) => version))).toEqual(new Set([STRIPE_API_VERSION]));
  const keys = stripe.requests.filter(({ method }) => method === 'POST').map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(key).toMatch(/^guildhall-key-\d/);
});

test('the own account is called without naming one, and takes no application fee', async () => {
  const provider = stripeProvider(stripe.settings, { account: null, feePercent: 10 });
  await provider.createPlan(newKey(), PLAN);
  expect(stripe.requests.map(({ account }) => account)).toEqual([null, null, null]);
  expect(stripe.account(null).alive.payment_link).toHaveLength(1);
});

test.each([0, 1, 2])('a plan whose making fails at call %i leaves nothing that can be bought', async (after) => {
  const provider = connect();
  stripe.fail({ method: 'POST', path: /./, after, how: 'refused' });
  const key = newKey();
  await expect(provider.createPlan(key, PLAN)).rejects.toMatchObject({ failure: 'refused' });
  await provider.undoPlan(key, NOW, []);
  expect(stripe.account('acct_1').alive).toMatchObject({ product: [], price: [], payment_link: [] });
});

test('what was made although its answer was lost is found by its key, and kept where a row names it', async () => {
  const provider = connect();
  stripe.fail({ method: 'POST', path: /payment_links/, how: 'lost', times: 3 });
  const key = newKey();
  await expect(provider.createPlan(key, PLAN)).rejects.toMatchObject({ failure: 'unknown' });
  const account = stripe.account('acct_1');
  expect(account.alive.payment_link).toHaveLength(1);
  const keep = Object.values(account.alive).flat();
  await provider.undoPlan(key, NOW, keep);
  expect(account.alive.payment_link).toHaveLength(1);
  await provider.undoPlan(key, NOW, []);
  expect(account.alive).toMatchObject({ product: [], price: [], payment_link: [] });
});

test('a lost answer is asked for again with the same key, and nothing is made twice', async () => {
  stripe.fail({ method: 'POST', path: /products/, how: 'lost' });
  const made = await connect().createPlan(newKey(), PLAN);
  expect(stripe.requests.filter(({ path }) => path === '/products')).toHaveLength(2);
  expect(stripe.account('acct_1').alive.product).toEqual([made.productId]);
});

test('another price makes price and link anew, and the earlier ones cannot be bought any more', async () => {
  const provider = connect(2.5);
  const made = await provider.createPlan(newKey(), PLAN);
  const same = await provider.changePlan(newKey(), made, { ...PLAN, name: 'Pro 2', description: 'More' });
  expect(same).toEqual(made);
  const changed = await provider.changePlan(newKey(), made, { ...PLAN, priceCents: 5900 });
  const { alive, state } = stripe.account('acct_1');
  expect(alive).toMatchObject({
    product: [made.productId],
    price: [changed.priceId],
    payment_link: [changed.paymentLinkId],
  });
  expect(state.get(changed.paymentLinkId, 'payment_link').application_fee_percent).toBe(2.5);
  expect(state.get(made.productId, 'product')).toMatchObject({ name: 'Pro', description: null });
  await provider.archivePlan(newKey(), changed);
  await provider.archivePlan(newKey(), changed);
  expect(stripe.account('acct_1').alive).toMatchObject({ product: [], price: [], payment_link: [] });
});

test.each([
  ['USD', 2, 4900, 4900],
  ['JPY', 0, 4900, 4900],
  ['KWD', 3, 4900, 4900],
  ['ISK', 0, 4900, 490_000],
  ['HUF', 2, 4900, 4900],
])('a price in %s is the same money there', async (currency, currencyDigits, priceCents, unitAmount) => {
  const { priceId } = await connect().createPlan(newKey(), { ...PLAN, currency, currencyDigits, priceCents });
  expect(stripe.account('acct_1').state.get(priceId, 'price').unit_amount).toBe(unitAmount);
});

test('a coupon is a code there: what ours has as an underscore is a dash', async () => {
  const provider = connect();
  const made = await provider.createCoupon(newKey(), COUPON);
  const { state } = stripe.account('acct_1');
  expect(state.get(made.promotionCodeId, 'promotion_code')).toMatchObject({
    code: 'HALF-OFF',
    active: true,
    max_redemptions: 3,
  });
  await provider.setCouponActive(newKey(), made.promotionCodeId, false);
  expect(state.get(made.promotionCodeId, 'promotion_code').active).toBe(false);
  await provider.deleteCoupon(newKey(), made);
  await provider.deleteCoupon(newKey(), made);
  expect(stripe.account('acct_1').alive).toMatchObject({ coupon: [], promotion_code: [] });
});

test('a coupon whose code cannot be made leaves none', async () => {
  stripe.fail({ path: /promotion_codes/, method: 'POST', how: 'refused' });
  const key = newKey();
  await expect(connect().createCoupon(key, COUPON)).rejects.toThrow(PaymentProviderError);
  await connect().undoCoupon(key);
  expect(stripe.account('acct_1').alive).toMatchObject({ coupon: [], promotion_code: [] });
});

test('a page takes the buyer, the coupon and the fee along', async () => {
  const provider = connect(2.5);
  const plan = await provider.createPlan(newKey(), PLAN);
  const coupon = await provider.createCoupon(newKey(), COUPON);
  const page = await provider.createCheckout(newKey(), {
    ...CHECKOUT,
    couponId: coupon.couponId,
    item: { kind: 'recurring', priceId: plan.priceId },
  });
  const account = stripe.account('acct_1');
  account.pay(page.sessionId);
  const state = await provider.findCheckout(page.sessionId);
  expect(state).toMatchObject({ status: 'complete', isPaid: true, checkoutId: 'checkout-1' });
  const subscription = await provider.findSubscription(state?.subscriptionId ?? '');
  expect(subscription).toMatchObject({
    status: 'active',
    priceId: plan.priceId,
    checkoutId: 'checkout-1',
    periodStart: NOW,
    periodEnd: new Date('2026-12-22T12:00:00Z'),
    latestInvoice: { isPaid: true },
  });
  expect(account.subscription(subscription?.id).application_fee_percent).toBe(2.5);
  const invoice = await provider.findInvoice(subscription?.latestInvoice?.id ?? '');
  expect(invoice).toMatchObject({ subscriptionId: subscription?.id, isPaid: true, beginsPeriod: true });
  const charge = account.chargeOf({ invoice: invoice?.id });
  expect(charge.amount).toBe(2450);
  account.refund(charge, 100);
  account.dispute(charge, 'warning_needs_response');
  expect(await provider.findPayment(charge.id)).toEqual({
    chargeId: charge.id,
    amount: 2450,
    refunded: 100,
    disputed: 0,
    paidFor: { invoiceId: invoice?.id, subscriptionId: subscription?.id },
  });
});

test.each([
  ['error', 'unknown'],
  ['silent', 'unknown'],
  ['lost', 'unknown'],
  ['limited', 'refused'],
  ['refused', 'refused'],
] as const)('a provider that answers %s fails the call as %s', async (how, failure) => {
  stripe.fail({ path: /products/, how, times: 2 });
  await expect(connect().createPlan(newKey(), PLAN)).rejects.toMatchObject({ name: 'PaymentProviderError', failure });
});

test('no error says the key', async () => {
  const provider = stripeProvider(
    { ...stripe.settings, secretKey: 'sk_test_wrong' },
    { account: null, feePercent: null },
  );
  const error: unknown = await provider.createPlan(newKey(), PLAN).catch((each: unknown) => each);
  expect(error).toMatchObject({ failure: 'denied' });
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('sk_test_wrong');
});

test('an account that the installation may not act for is denied', async () => {
  const provider = stripeProvider(stripe.settings, { account: 'acct_foreign', feePercent: null });
  await expect(provider.createPlan(newKey(), PLAN)).rejects.toMatchObject({ failure: 'denied' });
});
