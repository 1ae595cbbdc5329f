import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { pngOf, uploadLogo } from '../../support/hub/pictures.ts';
import { poll } from '../../support/poll.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';

let app: TestApp;
let stripe: StripeStandIn;
beforeAll(async () => {
  stripe = await startStripe({ callMs: 2000, maxRetries: 0 });
  app = await startTestApp({ payments: stripe.settings, jobs: true });
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

test('horizontal and icon are passed on to the connected account; the others are not', async () => {
  const { db } = app.workspace;
  stripe.account('acct_brand');
  await app.api('get', '/hub').expect(200);
  await db.updateTable('hubs').set({ payment_mode: 'account', payment_account: 'acct_brand' }).execute();
  await uploadLogo(app, 'email', pngOf(1)).expect(200);
  await uploadLogo(app, 'icon', pngOf(2)).expect(200);
  const synced = () => db.selectFrom('hubs').select('branding_synced_at').executeTakeFirstOrThrow();
  await poll(synced, ({ branding_synced_at }) => branding_synced_at !== null);
  const sent = stripe.requests.filter(({ path }) => path.includes('files') || path.includes('accounts'));
  expect(sent.map(({ path, account }) => [path, account])).toMatchObject([
    ['/files', 'acct_brand'],
    [expect.stringMatching(/accounts/), expect.anything()],
  ]);
});

test('a failure of the provider does not undo the upload', async () => {
  stripe.fail({ method: 'POST', path: /files|accounts/, how: 'refused' });
  const { status, body } = await uploadLogo(app, 'horizontal', pngOf(3));
  expect([status, typeof body.logoHorizontalUrl]).toEqual([200, 'string']);
});
