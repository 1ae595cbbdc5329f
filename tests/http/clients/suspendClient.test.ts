import { ensureHub, updateHubRow } from '../../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { startPlan } from '../../../domain/clients/subscription.ts';
import { stripeProvider } from '../../../integrations/payments/stripe/stripe.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';
import { allMissing, answersForMissingClient, type Client, makeClientOf, readClient } from './clients.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ACCOUNT = 'acct_suspend';
const clock = new TestClock();

let stripe: StripeStandIn;
let app: TestApp;
let planId: string;
beforeAll(async () => {
  stripe = await startStripe({ clock, callMs: 300, maxRetries: 0 });
  stripe.account(ACCOUNT);
  app = await startTestApp({ clock, payments: stripe.settings });
  planId = await storePlan(app.workspace);
  await ensureHub(app.workspace.db, app.workspace.workspaceId);
  await updateHubRow(app.workspace.db, app.workspace.workspaceId, {
    payment_mode: 'account',
    payment_account: ACCOUNT,
    updated_at: new Date(),
  });
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

const act = (verb: 'suspend' | 'reactivate', { publicId }: Pick<Client, 'publicId'>, body?: object) =>
  app.api('post', `/clients/${publicId}/${verb}`).send(body);
const setStatus = async ({ publicId: id }: Client, status: Client['subscriptionStatus']) => {
  await app.workspace.db.updateTable('clients').set({ status }).where('id', '=', id).execute();
};

let made = 0;
/** A client whose subscription the payment provider holds. */
async function payingClient(): Promise<Client & { subscriptionId: string }> {
  const provider = stripeProvider(stripe.settings, { account: ACCOUNT, feePercent: null });
  const key = () => `test-${++made}`;
  const plan = await provider.createPlan(key(), {
    id: planId,
    name: 'Pro',
    description: null,
    priceCents: 4900,
    currency: 'USD',
    currencyDigits: 2,
    intervalMonths: 1,
    isActive: true,
    returnUrl: app.origin,
  });
  const { sessionId } = await provider.createCheckout(key(), {
    checkoutId: key(),
    workspaceId: app.workspace.workspaceId,
    email: 'ana@client.example',
    customerId: null,
    totalCents: 4900,
    currency: 'USD',
    currencyDigits: 2,
    couponId: null,
    successUrl: app.origin,
    cancelUrl: app.origin,
    brand: { name: 'Acme', color: '#112233' },
    expiresAt: new Date(clock.now().getTime() + DAY_MS / 24),
    item: { kind: 'recurring', priceId: plan.priceId },
  });
  const subscriptionId = String(stripe.account(ACCOUNT).pay(sessionId).subscription);
  const state = await provider.findSubscription(subscriptionId);
  if (!state) throw new Error('no subscription');
  const { publicId } = await makeClientOf(app);
  const { customerId, periodStart, periodEnd } = state;
  await inTransaction(app.workspace.db, (trx) =>
    startPlan(trx, {
      client: { workspace_id: app.workspace.workspaceId, id: publicId },
      plan: { id: planId },
      status: 'active',
      key: 'bought',
      now: clock.now(),
      provider: { customerId, subscriptionId, periodStart, periodEnd },
    }),
  );
  return { ...(await readClient(app, publicId)), subscriptionId };
}
const endsThere = (id: string) => stripe.account(ACCOUNT).subscription(id).cancel_at_period_end;
const openIntents = async () =>
  (await app.workspace.db.selectFrom('payment_intents').select('id').where('status', '=', 'open').execute()).length;

describe('200', () => {
  test.each([
    [
      'a reason',
      { cancellationReason: 'price', reason: 'r'.repeat(500) },
      { suspension_code: 'price', suspension_reason: 'r'.repeat(500) },
    ],
    ['an empty reason', {}, { suspension_code: null, suspension_reason: null }],
    ['no body', undefined, { suspension_code: null, suspension_reason: null }],
  ])('a client that nobody bills stops with %s, and comes back as it was', async (_what, body, stored) => {
    const client = await makeClientOf(app, { planPublicId: planId });
    const before = stripe.requests.length;
    const stopped = await act('suspend', client, body);
    expect([stopped.status, stopped.body]).toEqual([200, { ...client, subscriptionStatus: 'suspended' }]);
    const row = await app.workspace.db
      .selectFrom('clients')
      .selectAll()
      .where('id', '=', client.publicId)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ ...stored, suspended_at: clock.now() });
    const back = await act('reactivate', client);
    expect([back.status, back.body]).toEqual([200, client]);
    expect(stripe.requests.length).toBe(before);
  });

  test('a subscription ends with its period at the provider, and goes on when the client is reactivated', async () => {
    const client = await payingClient();
    expect((await act('suspend', client)).body.subscriptionStatus).toBe('suspended');
    expect(endsThere(client.subscriptionId)).toBe(true);
    expect((await act('reactivate', client)).body.subscriptionStatus).toBe('active');
    expect(endsThere(client.subscriptionId)).toBe(false);
    expect(await openIntents()).toBe(0);
  });
});

test('400: a reason that is none', async () => {
  const client = await makeClientOf(app, { planPublicId: planId });
  for (const body of [{ cancellationReason: 'bored' }, { reason: 'r'.repeat(501) }, { why: 'x' }])
    expect((await act('suspend', client, body)).body.code).toBe('VALIDATION_ERROR');
  expect((await readClient(app, client.publicId)).subscriptionStatus).toBe('active');
});

test('404 CLIENT_NOT_FOUND', async () => {
  expect(await answersForMissingClient(app, (publicId) => act('suspend', { publicId }))).toEqual(allMissing);
});

describe('409', () => {
  test.each(['past_due', 'canceled', 'trialing', 'pending_onboarding', 'suspended'] as const)(
    'CLIENT_NOT_ACTIVE: a client that is %s',
    async (status) => {
      const client = await makeClientOf(app, { planPublicId: planId });
      await setStatus(client, status);
      const answer = await act('suspend', client);
      expect([answer.status, answer.body.code]).toEqual([409, 'CLIENT_NOT_ACTIVE']);
      expect((await readClient(app, client.publicId)).subscriptionStatus).toBe(status);
    },
  );

  test('of several at once one succeeds', async () => {
    const client = await payingClient();
    for (const verb of ['suspend', 'reactivate'] as const) {
      const answers = await Promise.all([act(verb, client), act(verb, client), act(verb, client)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      expect(endsThere(client.subscriptionId)).toBe(verb === 'suspend');
    }
  });
});

describe('502 PAYMENT_PROVIDER_ERROR', () => {
  test.each(['error', 'refused', 'silent', 'lost'] as const)('%s: nothing changes, here and there', async (how) => {
    const client = await payingClient();
    for (const verb of ['suspend', 'reactivate'] as const) {
      const before = [await readClient(app, client.publicId), endsThere(client.subscriptionId)];
      // Stripe's library sends again at once what a broken connection may have lost.
      stripe.fail({ path: /subscriptions/, method: 'POST', how, times: how === 'lost' ? 2 : 1 });
      const { status, body } = await act(verb, client);
      expect([status, body.code]).toEqual([502, 'PAYMENT_PROVIDER_ERROR']);
      expect([await readClient(app, client.publicId), endsThere(client.subscriptionId)]).toEqual(before);
      await act(verb, client).expect(200);
    }
  });

  test('a subscription that has ended at the provider cannot go on there', async () => {
    const client = await payingClient();
    await act('suspend', client).expect(200);
    stripe.account(ACCOUNT).cancel(client.subscriptionId);
    const { status, body } = await act('reactivate', client);
    expect([status, body.code]).toEqual([502, 'PAYMENT_PROVIDER_ERROR']);
    expect((await readClient(app, client.publicId)).subscriptionStatus).toBe('suspended');
  });
});
