import { type ClientRow, selectClientChanges } from '../../../db/queries/clients/clients.ts';
import { advanceClient } from '../../../domain/clients/renewals.ts';
import {
  cancelSubscription,
  changePlanAtPeriodEnd,
  changePlanNow,
  markPastDue,
  type PlanStart,
  renewPeriod,
  resumeSubscription,
  startPlan,
  suspendSubscription,
} from '../../../domain/clients/subscription.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { type StoredPlanFields, storePlan } from '../../support/hub/storedPlans.ts';
import { factsOf, inOwn, waitingClient } from './life.ts';

const at = (day: string) => new Date(day.length === 10 ? `${day}T00:00:00.000Z` : day);

let setting: TestDatabase;
let workspace: SeededWorkspace;
beforeAll(async () => {
  setting = await createTestDatabase();
  workspace = await setting.seedWorkspace();
});
afterAll(() => setting.drop());

/** A client that began a plan with these fields on this day. */
async function started(day: string, fields: StoredPlanFields, start: Partial<PlanStart> = {}): Promise<ClientRow> {
  const plan = { id: await storePlan(workspace, fields) };
  const client = await waitingClient(workspace);
  return inOwn(workspace, (trx) =>
    startPlan(trx, { client, plan, now: at(day), key: 'create', status: 'active', ...start }),
  );
}

const advance = (client: ClientRow, day: string) => inOwn(workspace, (trx) => advanceClient(trx, client, at(day)));
const facts = (client: ClientRow) => factsOf(workspace, client);

/** The keys of what happened, oldest first. */
async function happened(client: ClientRow): Promise<string[]> {
  const changes = await selectClientChanges(workspace.db, client, 100);
  return changes
    .map(({ key }) => key.replace('T00:00:00.000Z', ''))
    .filter((key) => key !== 'create')
    .sort();
}

/** Grants and expiries of a client, in their order. */
async function entriesOf({ id }: ClientRow): Promise<number[]> {
  const rows = await workspace.db
    .selectFrom('credit_entries')
    .select('amount')
    .where('client_id', '=', id)
    .where('amount', '<>', 0)
    .orderBy('id')
    .execute();
  return rows.map(({ amount }) => amount).sort((a, b) => a - b);
}

describe('periods that the service renews', () => {
  test('a month from 31 January ends on the last of February, and the next one on 31 March', async () => {
    const client = await started('2026-01-31', {});
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-01-31',
      end: '2026-02-28',
      credits: 100,
      again: '2026-02-28',
    });
    await advance(client, '2026-02-27T23:59:59.999Z');
    expect(await happened(client)).toEqual([]);
    await advance(client, '2026-02-28');
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-02-28',
      end: '2026-03-31',
      credits: 100,
      again: '2026-03-31',
    });
  });

  test('what was missed is done in its order, each once, and credits do not add up', async () => {
    const client = await started('2026-01-31', {});
    await advance(client, '2026-06-15');
    expect(await happened(client)).toEqual([
      'period:2026-02-28',
      'period:2026-03-31',
      'period:2026-04-30',
      'period:2026-05-31',
    ]);
    expect(await facts(client)).toMatchObject({ start: '2026-05-31', end: '2026-06-30', credits: 100 });
    expect(await entriesOf(client)).toEqual([
      ...Array.from({ length: 4 }, () => -100),
      ...Array.from({ length: 5 }, () => 100),
    ]);
  });

  test('ten years are caught up in several transactions', async () => {
    const client = await started('2016-01-31', {});
    let row = client;
    let rounds = 0;
    for (; row.due_at !== null && row.due_at <= at('2026-01-31'); rounds += 1)
      row = await advance(client, '2026-01-31');
    expect(rounds).toBe(2);
    expect(await facts(client)).toMatchObject({ start: '2026-01-31', end: '2026-02-28', credits: 100 });
  });

  test('months are counted by the clocks of the workspace', async () => {
    const berlin = await setting.seedWorkspace();
    await setting.database.system
      .updateTable('workspaces')
      .set({ time_zone: 'Europe/Berlin' })
      .where('id', '=', berlin.workspaceId)
      .execute();
    const plan = { id: await storePlan(berlin) };
    const client = await waitingClient(berlin);
    const now = at('2026-03-14T23:30:00.000Z');
    const row = await inOwn(berlin, (trx) => startPlan(trx, { client, plan, now, key: 'create', status: 'active' }));
    expect(row.period_end).toEqual(at('2026-04-14T22:30:00.000Z'));
  });

  test('an end that was set by hand is the anchor of later periods, and credits begin there anew', async () => {
    const client = await started('2026-01-31', {}, { periodEnd: at('2026-03-10'), credits: 7 });
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-01-31',
      end: '2026-03-10',
      credits: 7,
      again: '2026-02-28',
    });
    await advance(client, '2026-03-01');
    expect(await facts(client)).toMatchObject({ start: '2026-01-31', credits: 100, again: '2026-03-10' });
    await advance(client, '2026-03-10');
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-03-10',
      end: '2026-04-10',
      credits: 100,
      again: '2026-04-10',
    });
  });

  test('a plan that is paid once has no end, and its credits are granted each month all the same', async () => {
    const client = await started('2026-01-31', { billing_type: 'one_time', billing_interval_months: 0 });
    expect(await facts(client)).toMatchObject({ end: null, again: '2026-02-28' });
    await advance(client, '2026-04-01');
    expect(await happened(client)).toEqual(['credits:2026-02-28', 'credits:2026-03-31']);
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-01-31',
      end: null,
      credits: 100,
      again: '2026-04-30',
    });
  });

  test('… and one whose end was set by hand is canceled at it', async () => {
    const once: StoredPlanFields = { billing_type: 'one_time', billing_interval_months: 0 };
    const client = await started('2026-01-31', once, { periodEnd: at('2026-02-15') });
    expect(await facts(client)).toMatchObject({ end: '2026-02-15', again: null });
    await advance(client, '2026-02-15');
    expect(await facts(client)).toMatchObject({ status: 'canceled', credits: 0 });
  });

  test('a trial ends as canceled without its credits, and a plan that is bought opens it again', async () => {
    const client = await started(
      '2026-01-01',
      { credits: { renewal_interval_months: null } },
      { status: 'trialing', periodEnd: at('2026-03-15') },
    );
    expect(await facts(client)).toMatchObject({ status: 'trialing', end: '2026-03-15', credits: 100, again: null });
    await advance(client, '2026-03-15');
    expect(await facts(client)).toMatchObject({ status: 'canceled', credits: 0 });
    expect((await advance(client, '2030-01-01')).status).toBe('canceled');
    const plan = { id: await storePlan(workspace) };
    await inOwn(workspace, (trx) =>
      startPlan(trx, { client, plan, now: at('2026-04-01'), key: 'bought', status: 'active' }),
    );
    expect(await facts(client)).toMatchObject({ status: 'active', start: '2026-04-01', credits: 100 });
  });

  test('a trial of months has credits each month until it ends', async () => {
    const client = await started('2026-01-01', {}, { status: 'trialing', periodEnd: at('2026-03-15') });
    await advance(client, '2026-02-20');
    expect(await facts(client)).toMatchObject({ status: 'trialing', credits: 100, again: '2026-03-01' });
    await advance(client, '2026-04-01');
    expect(await happened(client)).toEqual(['credits:2026-02-01', 'credits:2026-03-01', 'end:2026-03-15']);
  });
});

describe('credits within a period', () => {
  test('a year with credits each month, counted from the anchor', async () => {
    const client = await started('2026-01-31', { billing_interval_months: 12, credits: { extra_credits_amount: 5 } });
    await advance(client, '2027-01-30');
    expect((await happened(client)).slice(0, 3)).toEqual([
      'credits:2026-02-28',
      'credits:2026-03-31',
      'credits:2026-04-30',
    ]);
    expect(await happened(client)).toHaveLength(11);
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-01-31',
      end: '2027-01-31',
      credits: 105,
      again: '2027-01-31',
    });
    await advance(client, '2027-01-31');
    expect((await happened(client)).at(-1)).toBe('period:2027-01-31');
    expect(await facts(client)).toMatchObject({ credits: 105, again: '2027-02-28' });
  });

  test('an interval that is longer than the period waits for the period in which it falls', async () => {
    const client = await started('2026-01-01', { credits: { renewal_interval_months: 2 } });
    await advance(client, '2026-02-01');
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-02-01',
      end: '2026-03-01',
      credits: 100,
      again: '2026-03-01',
    });
    expect(await entriesOf(client)).toEqual([100]);
    await advance(client, '2026-03-01');
    expect(await entriesOf(client)).toEqual([-100, 100, 100]);
    expect(await facts(client)).toMatchObject({ again: '2026-05-01' });
  });

  test('an interval that does not divide the period goes on across its end', async () => {
    const client = await started('2026-01-01', { billing_interval_months: 3, credits: { renewal_interval_months: 2 } });
    await advance(client, '2026-07-01');
    expect(await happened(client)).toEqual([
      'credits:2026-03-01',
      'credits:2026-05-01',
      'period:2026-04-01',
      'period:2026-07-01',
    ]);
    expect(await entriesOf(client)).toEqual([-100, -100, -100, 100, 100, 100, 100]);
  });

  test('a plan that gets credits later grants them with the next period, and then as its package says', async () => {
    const client = await started('2026-01-31', { credits: null });
    const other = await storePlan(workspace);
    await workspace.db
      .updateTable('plans')
      .set(({ selectFrom }) => ({
        credit_package_id: selectFrom('plans as o').select('o.credit_package_id').where('o.id', '=', other),
      }))
      .where('id', '=', client.plan_id ?? '')
      .execute();
    await advance(client, '2026-02-27');
    expect(await facts(client)).toMatchObject({ credits: 0, again: null });
    await advance(client, '2026-03-31');
    expect(await facts(client)).toMatchObject({ start: '2026-03-31', credits: 100, again: '2026-04-30' });
    expect(await entriesOf(client)).toEqual([-100, 100, 100]);
  });

  test('a package without an interval grants once, and its credits outlive the periods', async () => {
    const client = await started('2026-01-01', { credits: { renewal_interval_months: null } });
    await advance(client, '2026-05-01');
    expect(await facts(client)).toMatchObject({ start: '2026-05-01', credits: 100, again: null });
    expect(await entriesOf(client)).toEqual([100]);
  });
});

describe('changes of the plan', () => {
  test('a change at the end of the period begins with the next one, with an anchor of its own', async () => {
    const client = await started('2026-01-31', {});
    const plan = { id: await storePlan(workspace, { billing_interval_months: 2, credits: { credits_amount: 30 } }) };
    await inOwn(workspace, (trx) => changePlanAtPeriodEnd(trx, { client, plan, key: 'down', now: at('2026-02-10') }));
    expect(await facts(client)).toMatchObject({ credits: 100, end: '2026-02-28' });
    const row = await advance(client, '2026-02-28');
    expect([row.plan_id, row.pending_plan_id]).toEqual([plan.id, null]);
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-02-28',
      end: '2026-04-28',
      credits: 30,
      again: '2026-03-28',
    });
  });

  test('the present plan takes it back, and a period without an end changes now', async () => {
    const client = await started('2026-01-31', {});
    const other = { id: await storePlan(workspace) };
    const change = { client, now: at('2026-02-10') };
    await inOwn(workspace, (trx) => changePlanAtPeriodEnd(trx, { ...change, plan: other, key: '1' }));
    const back = await inOwn(workspace, (trx) =>
      changePlanAtPeriodEnd(trx, { ...change, plan: { id: client.plan_id ?? '' }, key: '2' }),
    );
    expect([back.pending_plan_id, back.pending_plan_at]).toEqual([null, null]);
    const endless = await started('2026-01-31', { billing_type: 'one_time', billing_interval_months: 0 });
    const row = await inOwn(workspace, (trx) =>
      changePlanAtPeriodEnd(trx, { ...change, client: endless, plan: other, key: '1' }),
    );
    expect([row.plan_id, row.period_start, row.period_end]).toEqual([other.id, at('2026-02-10'), at('2026-03-10')]);
  });

  test('a change now keeps the period of the same interval, and gives the credits of the new plan in full', async () => {
    const client = await started('2026-01-31', {});
    const plan = { id: await storePlan(workspace, { credits: { credits_amount: 500 } }) };
    await inOwn(workspace, (trx) => changePlanNow(trx, { client, plan, key: 'up', now: at('2026-02-10') }));
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-01-31',
      end: '2026-02-28',
      credits: 500,
      again: '2026-02-28',
    });
    expect(await entriesOf(client)).toEqual([-100, 100, 500]);
  });

  test('… and begins a period with another interval', async () => {
    const client = await started('2026-01-31', {});
    const plan = { id: await storePlan(workspace, { billing_interval_months: 12 }) };
    await inOwn(workspace, (trx) => changePlanNow(trx, { client, plan, key: 'up', now: at('2026-02-10') }));
    expect(await facts(client)).toMatchObject({
      start: '2026-02-10',
      end: '2027-02-10',
      credits: 100,
      again: '2026-03-10',
    });
  });
});

describe('suspension', () => {
  const suspended = async (day: string, fields: StoredPlanFields = {}) => {
    const client = await started('2026-01-31', fields);
    await inOwn(workspace, (trx) =>
      suspendSubscription(trx, { client, key: 's', now: at(day), code: 'price', reason: 'x' }),
    );
    return client;
  };
  const resume = (client: ClientRow, day: string) =>
    inOwn(workspace, (trx) => resumeSubscription(trx, { client, key: 'r', now: at(day) }));

  test('nothing is renewed; the period goes on if it has not ended, and credits that came due are granted', async () => {
    const client = await suspended('2026-02-10', { billing_interval_months: 12 });
    await advance(client, '2026-03-05');
    expect(await facts(client)).toMatchObject({ status: 'suspended', again: '2026-02-28' });
    const row = await resume(client, '2026-03-05');
    expect([row.suspension_code, row.suspension_reason, row.suspended_at]).toEqual([null, null, null]);
    await advance(client, '2026-03-05');
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-01-31',
      end: '2027-01-31',
      credits: 100,
      again: '2026-03-31',
    });
  });

  test('a period that has ended meanwhile: one begins now, on the pending plan if there is one', async () => {
    const plain = await suspended('2026-02-10');
    await resume(plain, '2026-05-05');
    expect(await facts(plain)).toEqual({
      status: 'active',
      start: '2026-05-05',
      end: '2026-06-05',
      credits: 100,
      again: '2026-06-05',
    });
    const changing = await suspended('2026-02-10');
    const plan = { id: await storePlan(workspace, { credits: { credits_amount: 30 } }) };
    await inOwn(workspace, (trx) =>
      changePlanAtPeriodEnd(trx, { client: changing, plan, key: 'd', now: at('2026-02-11') }),
    );
    const row = await resume(changing, '2026-05-05');
    expect([row.plan_id, row.pending_plan_id]).toEqual([plan.id, null]);
    expect(await facts(changing)).toMatchObject({ start: '2026-05-05', credits: 30 });
  });
});

describe('subscriptions at a payment provider', () => {
  let number = 0;
  const bought = async (fields: StoredPlanFields = {}) => {
    const provider = {
      customerId: 'cus_1',
      subscriptionId: `sub_${++number}`,
      periodStart: at('2026-01-31'),
      periodEnd: at('2026-02-28'),
    };
    return started('2026-02-01', fields, { provider });
  };
  const paid = (client: ClientRow, start: string, end: string, key = `in_${start}`) =>
    inOwn(workspace, (trx) =>
      renewPeriod(trx, { client, periodStart: at(start), periodEnd: at(end), key, now: at(start) }),
    );

  test('the service does not renew them: the payment does, and grants credits with it', async () => {
    const client = await bought();
    expect(await facts(client)).toMatchObject({ start: '2026-01-31', end: '2026-02-28', again: '2026-02-28' });
    await advance(client, '2026-03-05');
    expect(await facts(client)).toMatchObject({ start: '2026-01-31', credits: 100 });
    await paid(client, '2026-02-28', '2026-03-31');
    expect(await facts(client)).toEqual({
      status: 'active',
      start: '2026-02-28',
      end: '2026-03-31',
      credits: 100,
      again: '2026-03-31',
    });
    expect(await entriesOf(client)).toEqual([-100, 100, 100]);
  });

  test('credits within the period are granted by the service', async () => {
    const provider = {
      customerId: 'cus_2',
      subscriptionId: 'sub_year',
      periodStart: at('2026-01-31'),
      periodEnd: at('2027-01-31'),
    };
    const client = await started('2026-02-01', { billing_interval_months: 12 }, { provider });
    await advance(client, '2026-04-01');
    expect(await happened(client)).toEqual(['credits:2026-02-28', 'credits:2026-03-31']);
  });

  test('events in any order: the first payment of a period that began, an earlier one, and one twice', async () => {
    const client = await bought();
    await paid(client, '2026-01-31', '2026-02-28', 'in_first');
    await paid(client, '2026-03-31', '2026-04-30');
    await paid(client, '2026-02-28', '2026-03-31');
    await paid(client, '2026-03-31', '2026-04-30');
    expect(await facts(client)).toMatchObject({ start: '2026-03-31', end: '2026-04-30', credits: 100 });
    expect(await entriesOf(client)).toEqual([-100, 100, 100]);
  });

  test.each([
    ['forward', ['2026-02-15', '2026-03-15', '2026-04-15', '2026-05-15']],
    ['back', ['2026-09-15', '2026-10-15', '2026-11-15', '2026-12-15']],
  ])(
    'a provider that counts in UTC and a zone that sets its clocks %s grant credits once a month',
    async (_how, days) => {
      const zoned = await setting.seedWorkspace();
      await setting.database.system
        .updateTable('workspaces')
        .set({ time_zone: 'America/New_York' })
        .where('id', '=', zoned.workspaceId)
        .execute();
      const plan = { id: await storePlan(zoned) };
      const client = await waitingClient(zoned);
      const [first, second, third, fourth] = days.map((day) => at(`${day}T03:30:00.000Z`));
      if (!first || !second || !third || !fourth) throw new Error('four days');
      const provider = { customerId: 'cus', subscriptionId: 'sub', periodStart: first, periodEnd: second };
      await inOwn(zoned, (trx) =>
        startPlan(trx, { client, plan, now: first, key: 'create', status: 'active', provider }),
      );
      for (const [periodStart, periodEnd] of [
        [second, third],
        [third, fourth],
      ] as const) {
        await inOwn(zoned, (trx) => advanceClient(trx, client, new Date(periodStart.getTime() - 1)));
        await inOwn(zoned, (trx) =>
          renewPeriod(trx, {
            client,
            periodStart,
            periodEnd,
            key: `in ${periodStart.toISOString()}`,
            now: periodStart,
          }),
        );
        await inOwn(zoned, (trx) => advanceClient(trx, client, new Date(periodStart.getTime() + 10 * 3_600_000)));
      }
      const granted = await zoned.db.selectFrom('credit_entries').select('amount').where('amount', '>', 0).execute();
      expect(granted.map(({ amount }) => amount)).toEqual([100, 100, 100]);
      expect(await factsOf(zoned, client)).toMatchObject({ credits: 100, again: fourth.toISOString() });
    },
  );

  test('one subscription begins once, also after it was canceled', async () => {
    const client = await bought();
    const again = { client, plan: { id: client.plan_id ?? '' }, now: at('2026-02-03'), status: 'active' as const };
    const provider = {
      customerId: 'cus_1',
      subscriptionId: client.provider_subscription_id ?? '',
      periodStart: at('2026-01-31'),
      periodEnd: at('2026-02-28'),
    };
    await inOwn(workspace, (trx) => startPlan(trx, { ...again, provider, key: 'other event' }));
    await inOwn(workspace, (trx) => cancelSubscription(trx, { client, key: 'deleted', now: at('2026-02-04') }));
    await inOwn(workspace, (trx) => startPlan(trx, { ...again, provider, key: 'late event' }));
    expect(await facts(client)).toMatchObject({ status: 'canceled', credits: 0 });
    expect(await entriesOf(client)).toEqual([-100, 100]);
  });

  test('a payment that recovers makes a past due client active', async () => {
    const client = await bought();
    await inOwn(workspace, (trx) => markPastDue(trx, { client, key: 'failed', now: at('2026-03-01') }));
    expect((await paid(client, '2026-02-28', '2026-03-31')).status).toBe('active');
  });

  test('what ends while a client is suspended leaves it to be reactivated, with a period of the service', async () => {
    const client = await bought();
    await inOwn(workspace, (trx) =>
      suspendSubscription(trx, { client, key: 's', now: at('2026-02-10'), code: null, reason: null }),
    );
    await inOwn(workspace, (trx) => cancelSubscription(trx, { client, key: 'deleted', now: at('2026-02-28') }));
    const row = await inOwn(workspace, (trx) => resumeSubscription(trx, { client, key: 'r', now: at('2026-03-05') }));
    expect([row.status, row.provider_subscription_id, row.period_start, row.period_end]).toEqual([
      'active',
      null,
      at('2026-03-05'),
      at('2026-04-05'),
    ]);
  });

  test('a pending plan begins with the payment of its first period', async () => {
    const client = await bought();
    const plan = { id: await storePlan(workspace, { credits: { credits_amount: 30 } }) };
    await inOwn(workspace, (trx) => changePlanAtPeriodEnd(trx, { client, plan, key: 'down', now: at('2026-02-10') }));
    await advance(client, '2026-03-05');
    expect(await facts(client)).toMatchObject({ credits: 100 });
    expect((await paid(client, '2026-02-28', '2026-03-28')).plan_id).toBe(plan.id);
    expect(await facts(client)).toMatchObject({ end: '2026-03-28', credits: 30, again: '2026-03-28' });
  });
});
