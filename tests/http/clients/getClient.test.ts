import { inTransaction } from '../../../db/transaction.ts';
import { changePlanAtPeriodEnd } from '../../../domain/clients/subscription.ts';
import { grantCredits } from '../../../domain/credits/credits.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import { allMissing, answersForMissingClient, makeClientOf, readClient } from './clients.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('200: with what it bought, the plan that it changes to, and when that begins', async () => {
  const { workspaceId, db } = app.workspace;
  const [planPublicId, otherId] = [
    await storePlan(app.workspace),
    await storePlan(app.workspace, { currency: 'EUR', price_cents: 0 }),
  ];
  const { publicId: id, currentPeriodEnd } = await makeClientOf(app, { planPublicId });
  const now = app.clock.now();
  await inTransaction(db, async (trx) => {
    const client = { workspace_id: workspaceId, id };
    await grantCredits(trx, {
      workspaceId,
      clientId: id,
      source: 'extra',
      amount: 30,
      expiresAt: null,
      key: 'bought',
      now,
    });
    await changePlanAtPeriodEnd(trx, { client, plan: { id: otherId }, key: 'down', now });
  });
  expect(await readClient(app, id)).toMatchObject({
    creditsBalance: 100,
    extraCreditsBalance: 30,
    plan: { publicId: planPublicId },
    pendingPlan: { publicId: otherId, priceCents: 0, currency: 'EUR', effectiveAt: currentPeriodEnd },
  });
});

test('200: the plan of a canceled client is shown also when it was deleted', async () => {
  const planPublicId = await storePlan(app.workspace);
  const { publicId } = await makeClientOf(app, { planPublicId });
  await app.workspace.db.updateTable('plans').set({ deleted_at: new Date() }).where('id', '=', planPublicId).execute();
  expect((await readClient(app, publicId)).plan?.publicId).toBe(planPublicId);
});

test('404 CLIENT_NOT_FOUND: unknown, deleted, and of another workspace', async () => {
  expect(await answersForMissingClient(app, (id) => app.api('get', `/clients/${id}`))).toEqual(allMissing);
});
