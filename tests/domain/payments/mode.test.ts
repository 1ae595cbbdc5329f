import { newId } from '../../../core/ids.ts';
import { mirrorPlan } from '../../../domain/payments/mirrorPlan.ts';
import { healPaymentsOf } from '../../../domain/payments/reconcile.ts';
import { withIntent } from '../../../domain/payments/withIntent.ts';
import { runAdmin } from '../../../scripts/admin/run.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { connectHub, paymentsContextOf } from '../../support/hub/payingHub.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';

let clock: TestClock;
let stripe: StripeStandIn;
let app: TestApp;

beforeAll(async () => {
  clock = new TestClock();
  stripe = await startStripe({ clock, callMs: 2000, maxRetries: 0 });
  app = await startTestApp({ clock, payments: stripe.settings });
  await connectHub(app, stripe, 'acct_1');
  stripe.account('acct_2');
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

const context = () => paymentsContextOf(app);
const heal = () => healPaymentsOf(context(), new AbortController().signal);
const alive = (account: string) => stripe.account(account).alive.payment_link.length;
const plan = () => storePlan(context());

async function admin(...args: string[]): Promise<{ code: number; out: string }> {
  const lines: string[] = [];
  const env = { ...app.env, STRIPE_SECRET_KEY: 'sk_test_standin' };
  const terminal = { out: (line: string) => lines.push(line), err: (line: string) => lines.push(line) };
  const code = await runAdmin(['hub', 'payments', ...args], env, terminal);
  return { code, out: lines.join('\n') };
}

test('what a dead process left is healed: what no row names cannot be bought', async () => {
  const dead = withIntent(
    context(),
    { kind: 'plan', subjectId: newId() },
    {
      make: async (provider, key) => {
        await provider.createPlan(key, {
          id: newId(),
          name: 'Lost',
          description: null,
          priceCents: 100,
          currency: 'USD',
          currencyDigits: 2,
          intervalMonths: 1,
          isActive: true,
          returnUrl: null,
        });
        // As a process that dies: whatever it would do next does not happen.
        return new Promise<never>(() => {});
      },
      store: () => Promise.resolve(),
    },
  );
  void dead;
  while (alive('acct_1') === 0) await new Promise((later) => setImmediate(later));
  await heal();
  expect(alive('acct_1')).toBe(1);
  clock.advance(6 * 60_000);
  await heal();
  expect(alive('acct_1')).toBe(0);
});

test('a failed store leaves nothing at the provider', async () => {
  const planId = await plan();
  stripe.fail({ path: /payment_links/, method: 'POST', how: 'refused' });
  await expect(mirrorPlan(context(), planId)).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_ERROR' });
  expect(stripe.account('acct_1').alive).toMatchObject({ product: [], price: [], payment_link: [] });
});

test('a hub that changes its account leaves nothing that can be bought at the one before', async () => {
  const planId = await plan();
  await mirrorPlan(context(), planId);
  expect(alive('acct_1')).toBe(1);
  const { workspaceId } = app.workspace;
  const set = await admin('set', '--workspace', workspaceId, '--account', 'acct_2', '--fee', '2.5', '--json');

  if (set.code !== 0) throw new Error(set.out);
  clock.advance(60_000);
  await heal();
  expect(alive('acct_1')).toBe(0);
  await mirrorPlan(context(), planId);
  expect(alive('acct_2')).toBe(1);
  const other = app.stranger.workspaceId;
  expect(await admin('set', '--workspace', other, '--account', 'acct_2')).toMatchObject({ code: 1 });
  expect(await admin('set', '--workspace', other, '--own')).toMatchObject({ code: 0 });
  expect(await admin('set', '--workspace', workspaceId, '--own')).toMatchObject({ code: 1 });
  expect(await admin('set', '--workspace', workspaceId)).toMatchObject({ code: 2 });
  const { out } = await admin('show', '--workspace', workspaceId, '--json');
  expect(JSON.parse(out)).toMatchObject({ mode: 'account', account: 'acct_2', applicationFeePercent: 2.5 });
});
