import { ensureHub, updateHubRow } from '../../../db/queries/hubs/hubs.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { couponFields, makeCoupon, readCoupon } from '../../support/hub/coupons.ts';
import { contentOf, makePlan, planFields, readPlan } from '../../support/hub/plans.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';
import { planNames, rowsOfContent } from './plans.ts';

/** What the operations of plans and coupons do at the payment provider, and what is left when it fails. */

const ACCOUNT = 'acct_billing';
const clock = new TestClock();
let stripe: StripeStandIn;
let app: TestApp;
beforeAll(async () => {
  stripe = await startStripe({ clock, callMs: 2000, maxRetries: 0 });
  stripe.account(ACCOUNT);
  app = await startTestApp({ clock, payments: stripe.settings });
  const { db, workspaceId } = app.workspace;
  await ensureHub(db, workspaceId);
  const payments = { payment_mode: 'account', payment_account: ACCOUNT } as const;
  await updateHubRow(db, workspaceId, { ...payments, updated_at: clock.now() });
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

const api = (method: 'post' | 'patch' | 'delete', path: string, body?: object) =>
  app.api(method, `/billing/${path}`).send(body);
const objects = (kind: string) => stripe.account(ACCOUNT).state.all(kind);
const activeOnes = (kind: string) => objects(kind).filter(({ active }) => active);
const activeCounts = () =>
  ['product', 'price', 'payment_link', 'promotion_code'].map((kind) => activeOnes(kind).length);
const storedPlan = (id: string) =>
  app.workspace.db.selectFrom('plans').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const openIntents = async () =>
  (await app.workspace.db.selectFrom('payment_intents').select('id').where('status', '=', 'open').execute()).length;

describe('a plan', () => {
  test('has a product, a price and a payment link, which follow it, and are archived with it', async () => {
    const { publicId } = await makePlan(app, { name: 'At provider' });
    const first = await storedPlan(publicId);
    expect(objects('product')[0]).toMatchObject({ id: first.provider_product_id, name: 'At provider', active: true });
    expect(objects('price')[0]).toMatchObject({ id: first.provider_price_id, unit_amount: 4900, currency: 'usd' });
    expect(objects('payment_link')[0]).toMatchObject({ id: first.provider_payment_link_id, active: true });

    await api('patch', `plans/${publicId}`, { name: 'Renamed', priceCents: 5900 }).expect(200);
    const second = await storedPlan(publicId);
    expect(second.provider_price_id).not.toBe(first.provider_price_id);
    expect(objects('product')[0]).toMatchObject({ name: 'Renamed' });
    expect(activeOnes('price')).toMatchObject([{ id: second.provider_price_id, unit_amount: 5900 }]);
    expect(activeOnes('payment_link')).toMatchObject([{ id: second.provider_payment_link_id }]);

    await api('delete', `plans/${publicId}`).expect(204);
    expect(activeCounts()).toEqual([0, 0, 0, 0]);
    expect(await openIntents()).toBe(0);
  });

  test('that is free has none; it gets them with a price, and loses them with it', async () => {
    const before = objects('product').length;
    const { publicId } = await makePlan(app, { priceCents: 0 });
    expect(objects('product')).toHaveLength(before);
    await api('patch', `plans/${publicId}`, { priceCents: 100 }).expect(200);
    expect((await storedPlan(publicId)).provider_product_id).toBe(activeOnes('product')[0]?.id);
    await api('patch', `plans/${publicId}`, { priceCents: 0 }).expect(200);
    expect((await storedPlan(publicId)).provider_product_id).toBeNull();
    expect(activeCounts()).toEqual([0, 0, 0, 0]);
  });

  test('that is changed only here asks nobody there', async () => {
    const { publicId } = await makePlan(app);
    const asked = stripe.requests.length;
    await api('patch', `plans/${publicId}`, { widgetTitle: 'Pro', seatsIncluded: 7 }).expect(200);
    expect(stripe.requests).toHaveLength(asked);
    await api('delete', `plans/${publicId}`).expect(204);
  });

  test('that would be refused asks nobody there', async () => {
    const { name } = await makePlan(app);
    const asked = stripe.requests.length;
    await api('post', 'plans', planFields({ name: name.toUpperCase(), content: await contentOf(app) })).expect(409);
    await api('post', 'plans', planFields({ currency: 'XYZ', content: await contentOf(app) })).expect(422);
    expect(stripe.requests).toHaveLength(asked);
  });

  test('of creations of one name at once, one is made, and nothing is left of the others', async () => {
    const content = await contentOf(app);
    const before = activeCounts();
    const bodies = ['race', 'RACE', 'Race'].map((name) => planFields({ name, content }));
    const answers = await Promise.all(bodies.map((body) => api('post', 'plans', body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(activeCounts()).toEqual(before.map((count, kind) => (kind < 3 ? count + 1 : count)));
  });

  test('is made once with an Idempotency-Key, there as well', async () => {
    const body = planFields({ content: await contentOf(app) });
    const before = objects('product').length;
    const send = () => app.api('post', '/billing/plans').set('Idempotency-Key', 'plan-at-provider').send(body);
    const [first, second] = [await send().expect(201), await send().expect(201)];
    expect(second.body).toEqual(first.body);
    expect(objects('product')).toHaveLength(before + 1);
    expect(await openIntents()).toBe(0);
  });
});

describe('a coupon', () => {
  test('has a coupon and a promotion code, which is switched with it, and ends with it', async () => {
    const { publicId, providerCouponId, providerPromotionCodeId } = await makeCoupon(app, { maxUses: 5 });
    expect(objects('coupon')[0]).toMatchObject({ id: providerCouponId, percent_off: 10, duration: 'once' });
    expect(objects('promotion_code')[0]).toMatchObject({ id: providerPromotionCodeId, active: true });
    await api('patch', `coupons/${publicId}`, { active: false }).expect(200);
    expect(activeOnes('promotion_code')).toEqual([]);
    await api('patch', `coupons/${publicId}`, { active: true }).expect(200);
    await api('delete', `coupons/${publicId}`).expect(204);
    expect(activeOnes('promotion_code')).toEqual([]);
    expect(await openIntents()).toBe(0);
  });

  test('of free plans has none there', async () => {
    const { publicId } = await makePlan(app, { priceCents: 0 });
    const coupon = await makeCoupon(app, { scope: 'plans', applicablePlanIds: [publicId] });
    expect(coupon).toMatchObject({ providerCouponId: null, providerPromotionCodeId: null });
  });
});

describe('502 PAYMENT_PROVIDER_ERROR', () => {
  /** The answer when the first call to such a path is refused. */
  const failing = async (path: RegExp, ask: () => ReturnType<typeof api>, how: 'refused' | 'error' = 'refused') => {
    stripe.fail({ method: 'POST', path, how });
    const { status, body } = await ask();
    expect([status, body.code]).toEqual([502, 'PAYMENT_PROVIDER_ERROR']);
  };

  test('createPlan and createCoupon leave nothing', async () => {
    const body = planFields({ content: await contentOf(app) });
    const before = [await planNames(app), await rowsOfContent(app), activeCounts()];
    await failing(/^\/payment_links/, () => api('post', 'plans', body));
    await failing(/^\/promotion_codes/, () => api('post', 'coupons', couponFields({ code: 'NEVER' })));
    expect([await planNames(app), await rowsOfContent(app), activeCounts()]).toEqual(before);
    await app.api('post', '/billing/plans').send(body).expect(201);
    await makeCoupon(app, { code: 'NEVER' });
  });

  test('updatePlan, deletePlan, updateCoupon and deleteCoupon change nothing', async () => {
    const plan = await makePlan(app);
    const coupon = await makeCoupon(app);
    const before = activeCounts();
    await failing(/^\/payment_links$/, () => api('patch', `plans/${plan.publicId}`, { priceCents: 1 }));
    await failing(/^\/products/, () => api('delete', `plans/${plan.publicId}`));
    await failing(/^\/promotion_codes/, () => api('patch', `coupons/${coupon.publicId}`, { active: false }));
    await failing(/^\/promotion_codes/, () => api('delete', `coupons/${coupon.publicId}`), 'error');
    expect([await readPlan(app, plan.publicId), await readCoupon(app, coupon.publicId)]).toEqual([plan, coupon]);
    expect(activeCounts()).toEqual(before);
  });
});
