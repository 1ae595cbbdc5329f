import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import { allMissing, answersForMissingClient, makeClientOf, readClient } from './clients.ts';

/* Clients that nobody bills. What the payment provider has to do with it is tried with its counterpart, in suspendClient.test.ts. */
const DAY_MS = 24 * 60 * 60 * 1000;
const clock = new TestClock();

let app: TestApp;
let planId: string;
beforeAll(async () => {
  app = await startTestApp({ clock });
  planId = await storePlan(app.workspace);
});
afterAll(() => app.close());

const suspend = (publicId: string) => app.api('post', `/clients/${publicId}/suspend`).send();
const reactivate = (publicId: string) => app.api('post', `/clients/${publicId}/reactivate`).send();

describe('200', () => {
  test('the client is as it was', async () => {
    const client = await makeClientOf(app, { planPublicId: planId });
    await suspend(client.publicId).expect(200);
    const back = await reactivate(client.publicId);
    expect([back.status, back.body]).toEqual([200, client]);
  });

  test('a period that ended meanwhile begins anew, with the credits of the plan', async () => {
    const client = await makeClientOf(app, { planPublicId: planId, creditsOverride: 3 });
    await suspend(client.publicId).expect(200);
    clock.advance(70 * DAY_MS);
    const { body } = await reactivate(client.publicId);
    expect(body).toMatchObject({
      subscriptionStatus: 'active',
      currentPeriodStart: clock.now().toISOString(),
      creditsBalance: 100,
    });
  });
});

test('404 CLIENT_NOT_FOUND', async () => {
  expect(await answersForMissingClient(app, (publicId) => reactivate(publicId))).toEqual(allMissing);
});

test.each(['active', 'past_due', 'canceled', 'trialing', 'pending_onboarding'] as const)(
  '409 CLIENT_NOT_SUSPENDED: a client that is %s',
  async (status) => {
    const { publicId } = await makeClientOf(app, { planPublicId: planId });
    await app.workspace.db.updateTable('clients').set({ status }).where('id', '=', publicId).execute();
    const answer = await reactivate(publicId);
    expect([answer.status, answer.body.code]).toEqual([409, 'CLIENT_NOT_SUSPENDED']);
    expect((await readClient(app, publicId)).subscriptionStatus).toBe(status);
  },
);
