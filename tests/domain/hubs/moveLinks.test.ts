import { planColumnsOf, planObjectsOf } from '../../../domain/payments/mirror.ts';
import { stripeProvider } from '../../../integrations/payments/stripe/stripe.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makePlan } from '../../support/hub/plans.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';

/** A hub that moves, with its payment links at the provider: all of them are made anew, or none. */

const ACCOUNT = 'acct_move';

let app: TestApp;
let stripe: StripeStandIn;
beforeAll(async () => {
  stripe = await startStripe({ callMs: 2000, maxRetries: 0 });
  app = await startTestApp({ payments: stripe.settings });
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

type Workspace = Awaited<ReturnType<TestApp['database']['seedWorkspace']>>;

/** A hub at a connected account, with plans that have their objects there; the last one is inactive. */
async function sellingHub(plans: number): Promise<Workspace & { account: ReturnType<StripeStandIn['account']> }> {
  const workspace = await app.database.seedWorkspace();
  const { apiKey, db } = workspace;
  const id = `${ACCOUNT}_${workspace.workspaceId.slice(-12)}`;
  const account = stripe.account(id);
  const provider = stripeProvider(stripe.settings, { account: id, feePercent: null });
  await app
    .api('put', '/hub/domain', apiKey)
    .send({ subdomain: `before-${id.slice(-12)}` })
    .expect(200);
  for (let index = 0; index < plans; index += 1) {
    const { publicId, name } = await makePlan(app, {}, apiKey);
    const isActive = index < plans - 1;
    const objects = await provider.createPlan(`made-${publicId}`, {
      id: publicId,
      name,
      description: null,
      priceCents: 4900,
      currency: 'USD',
      currencyDigits: 2,
      intervalMonths: 1,
      isActive,
      returnUrl: 'https://before.example',
    });
    const columns = { ...planColumnsOf(objects), status: isActive ? ('active' as const) : ('inactive' as const) };
    await db.updateTable('plans').set(columns).where('id', '=', publicId).execute();
  }
  await db.updateTable('hubs').set({ payment_mode: 'account', payment_account: id }).execute();
  return { ...workspace, account };
}

async function linksOf({ db }: Workspace): Promise<string[]> {
  const rows = await db.selectFrom('plans').selectAll().orderBy('created_at').execute();
  return rows.map((row) => planObjectsOf(row)?.paymentLinkId ?? '');
}

const move = (subdomain: string, { apiKey }: Workspace) => app.api('put', '/hub/domain', apiKey).send({ subdomain });
const subdomainOf = async ({ apiKey }: Workspace) => (await app.api('get', '/hub', apiKey)).body.subdomain;
const openIntents = ({ db }: Workspace) =>
  db.selectFrom('payment_intents').select('id').where('status', '=', 'open').execute();

test('every payment link is made anew for the new address, and the earlier ones stop working', async () => {
  const hub = await sellingHub(12);
  const before = await linksOf(hub);
  expect((await move('moved', hub)).status).toBe(200);
  const after = await linksOf(hub);
  expect(after.filter((link) => before.includes(link))).toEqual([]);
  // All but that of the inactive plan.
  expect(hub.account.alive.payment_link.toSorted()).toEqual(after.slice(0, -1).toSorted());
  const link = hub.account.state.get(after[0] ?? '', 'payment_link');
  expect(JSON.stringify(link)).toContain(`${app.origin}/hub/moved`);
  expect(await openIntents(hub)).toEqual([]);
});

test.each([
  ['refuses', 'refused'],
  ['fails over', 'error'],
] as const)('502 when the provider %s one link: the hub stays, and the earlier links work', async (_words, how) => {
  const hub = await sellingHub(4);
  const [before, active, subdomain] = [await linksOf(hub), hub.account.alive.payment_link, await subdomainOf(hub)];
  stripe.fail({ method: 'POST', path: /payment_links$/, how, after: 2 });
  const { status, body } = await move('nowhere', hub);
  expect([status, body.code]).toEqual([502, 'PAYMENT_PROVIDER_ERROR']);
  expect([await linksOf(hub), await subdomainOf(hub)]).toEqual([before, subdomain]);
  expect(hub.account.alive.payment_link.toSorted()).toEqual(active.toSorted());
  expect(await app.service.runtime.hubNames.owner('nowhere')).toBeUndefined();
});

test('of two hubs that want one name at once, the loser keeps its working links', async () => {
  const hubs = [await sellingHub(2), await sellingHub(2)];
  const before = await Promise.all(
    hubs.map(async (hub) => [await linksOf(hub), hub.account.alive.payment_link.toSorted()]),
  );
  const answers = await Promise.all(hubs.map((hub) => move('wanted', hub)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const loser = answers.findIndex(({ status }) => status === 409);
  const hub = hubs[loser] as (typeof hubs)[number];
  expect(answers[loser]?.body.code).toBe('SUBDOMAIN_TAKEN');
  expect([await linksOf(hub), hub.account.alive.payment_link.toSorted()]).toEqual(before[loser]);
});
