import supertest from 'supertest';
import { updateHubRow } from '../../../../db/queries/hubs/hubs.ts';
import { newToken } from '../../../../domain/hubs/sessions.ts';
import { MAX_OF_STRANGERS } from '../../../../domain/payments/checkout.ts';
import { HOSTILE_TEXTS } from '../../../support/browser/hostileTexts.ts';
import { startTestApp, type TestApp, TestClock } from '../../../support/http/app.ts';
import { makeClient } from '../../../support/hub/clients.ts';
import { openHub } from '../../../support/hub/hubs.ts';
import { storePlan } from '../../../support/hub/storedPlans.ts';
import { type StripeStandIn, startStripe } from '../../../support/stripe/stripe.ts';

const clock = new TestClock();
let app: TestApp;
let stripe: StripeStandIn;
beforeAll(async () => {
  stripe = await startStripe({ clock, callMs: 2000, maxRetries: 0 });
  stripe.account('acct_pages');
  app = await startTestApp({ clock, hubDomain: 'hubs.test', payments: stripe.settings });
  await openHub(app.database, app.workspace, 'acme', { name: 'Acme' });
  await openHub(app.database, app.stranger, 'other', { name: 'Other' });
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});
beforeEach(() => clock.advance(61_000));

const HOST = 'acme.hubs.test';
const get = (path: string, cookie = '') =>
  supertest(app.origin).get(path).set('Host', HOST).set('Cookie', cookie).redirects(0);
const post = (path: string, form: object, cookie = '') =>
  supertest(app.origin)
    .post(path)
    .set('Host', HOST)
    .set('Cookie', cookie)
    .set('Sec-Fetch-Site', 'same-origin')
    .type('form')
    .redirects(0)
    .send(form);

let buyers = 0;
const buyer = (fields: object = {}) => {
  buyers += 1;
  return {
    email: `buyer${buyers}@example.com`,
    name: 'Ada',
    workspaceName: `Company ${buyers}`,
    coupon: '',
    ...fields,
  };
};
const db = () => app.workspace.db;
const clientNamed = (name: string) =>
  db().selectFrom('clients').selectAll().where('name', '=', name).executeTakeFirst();

async function storeCoupon(code: string, fields: object = {}) {
  await db()
    .insertInto('coupons')
    .values({
      workspace_id: app.workspace.workspaceId,
      id: crypto.randomUUID(),
      code,
      discount_type: 'percentage',
      discount_value: 20,
      duration: 'once',
      scope: 'hub',
      valid_from: new Date(0),
      ...fields,
    })
    .execute();
}

describe('a hub without a payment provider', () => {
  test('takes an order: the client waits, nothing is paid or granted, and the page thanks', async () => {
    const plan = await storePlan(app.workspace, { name: 'Pro' });
    const page = await get(`/checkout/${plan}`).expect(200);
    expect(page.text).toContain('Order by invoice');
    expect(page.text).toContain('$49.00');
    const order = buyer();
    const done = await post(`/checkout/${plan}`, order).expect(303);
    expect(done.headers.location).toBe('/thank-you?kind=invoice');
    expect(await clientNamed(order.workspaceName)).toMatchObject({ status: 'pending_onboarding' });
    expect((await get('/thank-you?kind=invoice').expect(200)).text).toContain('You get an invoice');
  });

  test('says at the field that the name is taken, and keeps what was entered', async () => {
    const plan = await storePlan(app.workspace);
    const order = buyer();
    await post(`/checkout/${plan}`, order).expect(303);
    const { text } = await post(`/checkout/${plan}`, {
      ...buyer(),
      workspaceName: order.workspaceName.toUpperCase(),
    }).expect(422);
    expect(text).toMatch(/aria-describedby="workspaceName-problem"/);
    expect(text).toContain(order.workspaceName.toUpperCase());
  });
});

test('strangers begin a bounded number of purchases a day, in all and with one email, free ones among them', async () => {
  const [paid, free] = [await storePlan(app.workspace), await storePlan(app.workspace, { price_cents: 0 })];
  const before = await db().selectFrom('clients').select('id').execute();
  const { email } = buyer();
  const orders = { workspace_id: app.workspace.workspaceId, plan_id: paid, kind: 'plan', status: 'invoice' } as const;
  const store = (count: number, of: (place: number) => string, created_at: Date) =>
    db()
      .insertInto('checkouts')
      .values(
        Array.from({ length: count }, (_, place) => ({
          ...orders,
          id: crypto.randomUUID(),
          email: of(place),
          name: 'Eve',
          workspace_name: `Flood ${place}`,
          is_of_stranger: true,
          created_at,
          expires_at: created_at,
          amount_cents: 0,
        })),
      )
      .execute();
  const now = app.service.runtime.clock.now();
  const yesterday = new Date(now.getTime() - 25 * 3_600_000);
  await store(MAX_OF_STRANGERS.ofEmail, () => email, yesterday);
  await store(MAX_OF_STRANGERS.ofEmail - 1, () => email.toUpperCase(), now);
  await post(`/checkout/${free}`, { ...buyer(), email }).expect(303);
  for (const plan of [paid, free])
    await post(`/checkout/${plan}`, { ...buyer(), email })
      .expect(429)
      .expect('Retry-After', '3600');
  await post(`/checkout/${paid}`, buyer()).expect(303);
  await store(MAX_OF_STRANGERS.all - MAX_OF_STRANGERS.ofEmail, (place) => `flood${place}@a.example`, now);
  for (const plan of [paid, free]) await post(`/checkout/${plan}`, buyer()).expect(429);
  expect(await db().selectFrom('clients').select('id').execute()).toHaveLength(before.length + 2);
  await db().deleteFrom('checkouts').where('name', '=', 'Eve').execute();
});

test('a free plan of a public hub begins at once; without a way in the client waits', async () => {
  const plan = await storePlan(app.workspace, { price_cents: 0 });
  const page = await get(`/checkout/${plan}`).expect(200);
  expect(page.text).not.toContain('name="coupon"');
  const waiting = buyer();
  await post(`/checkout/${plan}`, waiting).expect(303).expect('Location', '/thank-you?kind=invoice');
  await updateHubRow(db(), app.workspace.workspaceId, {
    access_type: 'public',
    default_plan_id: plan,
    updated_at: new Date(),
  });
  const at = buyer();
  await post(`/checkout/${plan}`, at).expect(303).expect('Location', '/thank-you?kind=free');
  expect(await clientNamed(at.workspaceName)).toMatchObject({ status: 'active', plan_id: plan });
  expect(await clientNamed(waiting.workspaceName)).toMatchObject({ status: 'pending_onboarding' });
  expect((await get('/sign-in').expect(200)).text).toContain(`href="/checkout/${plan}"`);
});

describe('a coupon', () => {
  test.each([
    ['unknown', 'NOSUCHCODE'],
    ['used up', 'USED'],
    ['past its end', 'OLD'],
    ['as long as no code is', 'x'.repeat(60)],
    ['a text that tries something', '"><script>alert(1)</script>'],
  ])('that is %s is refused at its field, and nothing is made', async (_what, coupon) => {
    await storeCoupon('USED', { max_uses: 1, times_used: 1 }).catch(() => undefined);
    await storeCoupon('OLD', { valid_until: new Date(1) }).catch(() => undefined);
    const order = buyer({ coupon });
    const { text } = await post(`/checkout/${await storePlan(app.workspace)}`, order).expect(422);
    expect(text).toMatch(/aria-describedby="coupon-problem"/);
    expect(text).not.toContain('<script>');
    expect(await clientNamed(order.workspaceName)).toBeUndefined();
  });

  test('that holds is taken, whatever its case', async () => {
    await storeCoupon('SPRING', { max_uses: 1 });
    await post(`/checkout/${await storePlan(app.workspace)}`, buyer({ coupon: ' spring ' })).expect(303);
    const coupon = await db()
      .selectFrom('coupons')
      .select('times_used')
      .where('code', '=', 'SPRING')
      .executeTakeFirst();
    expect(coupon?.times_used).toBe(1);
  });
});

test('fields that cannot be stored or mailed to are refused, each at its place, and nothing is made', async () => {
  const plan = await storePlan(app.workspace);
  const wrong: [object, string][] = [
    [{ email: '' }, 'email'],
    [{ email: 'a b@example.com' }, 'email'],
    [{ email: 'a@example.com\r\nBcc: b@example.com' }, 'email'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'Ada\r\nBcc: b@example.com' }, 'name'],
    [{ workspaceName: 'x'.repeat(151) }, 'workspaceName'],
  ];
  for (const [fields, place] of wrong) {
    const order = buyer(fields);
    const { text } = await post(`/checkout/${plan}`, order).expect(422);
    expect([...text.matchAll(/aria-describedby="(\w+)-problem"/g)].map(([, name]) => name)).toEqual([place]);
    expect(await clientNamed(order.workspaceName)).toBeUndefined();
  }
  for (const text of HOSTILE_TEXTS.slice(0, 6)) {
    const shown = await post(`/checkout/${plan}`, buyer({ name: text, email: text, workspaceName: text })).expect(422);
    expect(shown.text).not.toMatch(/<(?:script|img|svg|iframe)[\s>]/);
    clock.advance(61_000);
  }
});

test('plans that cannot be bought are 404 pages in the brand: unknown, inactive, deleted, of another hub', async () => {
  const ids = [
    crypto.randomUUID(),
    'nonsense',
    await storePlan(app.workspace, { status: 'inactive' }),
    await storePlan(app.workspace, { deleted_at: new Date() }),
    await storePlan(app.stranger),
  ];
  for (const id of ids) {
    expect((await get(`/checkout/${id}`).expect(404)).text).toContain('– Acme</title>');
    await post(`/checkout/${id}`, buyer()).expect(404);
  }
  // One that the widget hides can be bought by its address.
  await get(`/checkout/${await storePlan(app.workspace, { visible: false })}`).expect(200);
});

describe('a signed-in user', () => {
  async function signedIn(settings: Parameters<typeof makeClient>[2]) {
    const client = await makeClient(app.database, app.workspace, settings);
    const of = {
      workspaceId: app.workspace.workspaceId,
      userId: client.userId,
      kind: 'session' as const,
      now: clock.now(),
    };
    const { token } = await newToken(db(), of);
    return { ...client, cookie: `__Host-hub_session=${token}` };
  }

  test('buys for the client, and is asked neither for a name nor for an email', async () => {
    const plan = await storePlan(app.workspace);
    const { clientId, cookie } = await signedIn({ status: 'canceled' });
    const page = await get(`/checkout/${plan}`, cookie).expect(200);
    expect(page.text).not.toContain('name="email"');
    await post(`/checkout/${plan}`, { coupon: '' }, cookie).expect(303).expect('Location', '/thank-you?kind=invoice');
    const checkouts = await db().selectFrom('checkouts').selectAll().where('client_id', '=', clientId).execute();
    expect(checkouts).toMatchObject([{ plan_id: plan, status: 'invoice' }]);
  });

  test('whose client has a running plan cannot buy a second one', async () => {
    const plan = await storePlan(app.workspace);
    const { cookie } = await signedIn({ status: 'active', planId: plan });
    await get(`/checkout/${plan}`, cookie).expect(409);
    const { text } = await post(`/checkout/${plan}`, { coupon: '' }, cookie).expect(409);
    expect(text).toContain('You have a plan already');
  });
});

describe('a hub with a payment provider', () => {
  beforeAll(async () => {
    const account = { payment_mode: 'account', payment_account: 'acct_pages', updated_at: new Date() } as const;
    await updateHubRow(app.stranger.db, app.stranger.workspaceId, account);
  });
  const buy = (plan: string, form: object) =>
    supertest(app.origin)
      .post(`/checkout/${plan}`)
      .set('Host', 'other.hubs.test')
      .set('Sec-Fetch-Site', 'same-origin')
      .type('form')
      .redirects(0)
      .send(form);

  test('leads to its payment page, and makes no client', async () => {
    const order = buyer();
    const { headers } = await buy(await storePlan(app.stranger), order).expect(303);
    expect(headers.location).toMatch(/^https:\/\/checkout\.stripe\./);
    const clients = await app.stranger.db.selectFrom('clients').select('id').execute();
    expect(clients).toEqual([]);
  });

  test('that does not answer: the form says so and keeps what was entered', async () => {
    stripe.fail({ method: 'POST', path: /checkout\/sessions/, how: 'refused' });
    const order = buyer();
    const { text } = await buy(await storePlan(app.stranger), order).expect(502);
    expect(text).toContain('Nothing was charged');
    expect(text).toContain(order.email);
  });
});

test('the form may lead to a payment page, and to nothing else than https', async () => {
  const { headers } = await get(`/checkout/${await storePlan(app.workspace)}`).expect(200);
  expect(headers['content-security-policy']).toContain("form-action 'self' https:;");
});
