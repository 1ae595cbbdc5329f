import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientRow, ClientStatus } from '../../../db/queries/clients/clients.ts';
import {
  cancelSubscription,
  changePlanAtPeriodEnd,
  changePlanNow,
  markPaid,
  markPastDue,
  renewCreditsWithin,
  renewPeriod,
  resumeSubscription,
  startPlan,
  suspendSubscription,
} from '../../../domain/clients/subscription.ts';
import { type SubscriptionEvent, TRANSITIONS } from '../../../domain/clients/transitions.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import { inOwn, setClient, waitingClient } from './life.ts';

const START = new Date('2026-01-10T00:00:00Z');
const END = new Date('2027-01-10T00:00:00Z');
const NOW = new Date('2026-02-01T00:00:00Z');

/** The table of docs/hub.md: what is promised to its readers. */
function documented(): [SubscriptionEvent, ClientStatus, string][] {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/hub.md'), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const head = rows.findIndex(([first]) => first === 'event');
  const statuses = rows[head]?.slice(1) ?? [];
  return Object.keys(TRANSITIONS).flatMap((event) => {
    const cells = rows.find(([first]) => first?.startsWith(`\`${event}\``))?.slice(1) ?? [];
    return statuses.map((status, column): [SubscriptionEvent, ClientStatus, string] => [
      event as SubscriptionEvent,
      status as ClientStatus,
      cells[column] ?? 'missing',
    ]);
  });
}

let setting: TestDatabase;
let workspace: SeededWorkspace;
let planId: string;
let otherPlanId: string;
beforeAll(async () => {
  setting = await createTestDatabase();
  workspace = await setting.seedWorkspace();
  planId = await storePlan(workspace, { billing_interval_months: 12 });
  otherPlanId = await storePlan(workspace, { billing_interval_months: 12, credits: null });
});
afterAll(() => setting.drop());

/** A client in this status, on a yearly plan with credits each month. */
async function clientIn(status: ClientStatus): Promise<ClientRow> {
  const row = await waitingClient(workspace);
  if (status === 'pending_onboarding') return row;
  const plan = { plan_id: planId, period_start: START, period_end: END, billing_anchor: START };
  return setClient(workspace, row, { ...plan, status, next_credit_renewal_at: new Date('2026-02-10T00:00:00Z') });
}

const change = (client: ClientRow, key = 'cause') => ({ client, key, now: NOW });
const EVENTS: Record<SubscriptionEvent, (client: ClientRow, key?: string) => Promise<ClientRow>> = {
  start: (client, key) =>
    inOwn(workspace, (trx) => startPlan(trx, { ...change(client, key), plan: { id: planId }, status: 'active' })),
  start_trial: (client, key) =>
    inOwn(workspace, (trx) =>
      startPlan(trx, { ...change(client, key), plan: { id: planId }, status: 'trialing', periodEnd: END }),
    ),
  renew: (client, key) =>
    inOwn(workspace, (trx) =>
      renewPeriod(trx, { ...change(client, key), periodStart: END, periodEnd: new Date('2028-01-10T00:00:00Z') }),
    ),
  renew_credits: (client, key) => inOwn(workspace, (trx) => renewCreditsWithin(trx, change(client, key))),
  change_plan: (client, key) =>
    inOwn(workspace, (trx) => changePlanAtPeriodEnd(trx, { ...change(client, key), plan: { id: otherPlanId } })),
  mark_past_due: (client, key) => inOwn(workspace, (trx) => markPastDue(trx, change(client, key))),
  mark_paid: (client, key) => inOwn(workspace, (trx) => markPaid(trx, change(client, key))),
  suspend: (client, key) =>
    inOwn(workspace, (trx) => suspendSubscription(trx, { ...change(client, key), code: 'price', reason: null })),
  resume: (client, key) => inOwn(workspace, (trx) => resumeSubscription(trx, change(client, key))),
  cancel: (client, key) => inOwn(workspace, (trx) => cancelSubscription(trx, change(client, key))),
};

/** Everything that a change could have touched. */
async function stateOf({ id }: ClientRow) {
  const { db } = workspace;
  return [
    await db.selectFrom('clients').selectAll().where('id', '=', id).execute(),
    await db.selectFrom('credit_entries').selectAll().where('client_id', '=', id).orderBy('id').execute(),
    await db.selectFrom('client_changes').selectAll().where('client_id', '=', id).execute(),
  ];
}

test('every event and every status is in the table', () => {
  expect(documented()).toHaveLength(60);
  expect(documented().filter(([, , after]) => after === 'missing')).toEqual([]);
});

test.each(documented())('%s of a client that is %s: %s', async (event, before, after) => {
  const client = await clientIn(before);
  const untouched = await stateOf(client);
  const changed = await EVENTS[event](client);
  if (after === '') {
    expect(await stateOf(client)).toEqual(untouched);
    return;
  }
  expect(changed.status).toBe(after);
  const [, , changes] = await stateOf(client);
  expect(changes).toMatchObject([{ key: 'cause', kind: event, status_before: before, status_after: after }]);
  // The same cause, once more.
  const once = await stateOf(client);
  await EVENTS[event](client);
  expect(await stateOf(client)).toEqual(once);
});

test('a change now is refused where one at the end of the period is', async () => {
  for (const [event, before, after] of documented().filter(([each]) => each === 'change_plan')) {
    const client = await clientIn(before);
    const row = await inOwn(workspace, (trx) => changePlanNow(trx, { ...change(client), plan: { id: otherPlanId } }));
    expect([event, before, row.plan_id === otherPlanId]).toEqual([event, before, after !== '']);
  }
});

test('of one cause that is told to three processes at once, one changes the client', async () => {
  for (let round = 0; round < 5; round += 1) {
    const client = await clientIn('canceled');
    await Promise.all(Array.from({ length: 3 }, () => EVENTS.start(client)));
    const [, entries = [], changes] = await stateOf(client);
    expect(entries.filter((entry) => 'amount' in entry && entry.amount > 0)).toHaveLength(1);
    expect(changes).toHaveLength(1);
  }
});
