import { sql } from 'kysely';
import { findExpiredLots } from '../../../db/queries/credits/lots.ts';
import { inTransaction } from '../../../db/transaction.ts';
import {
  balancesOf,
  closeIncludedLots,
  grantCredits,
  openAccount,
  reverseGrant,
  setAccountTerms,
  startUsagePeriod,
} from '../../../domain/credits/credits.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { makePayingClient } from '../../support/hub/payingClients.ts';

let setting: TestDatabase;
let workspace: SeededWorkspace;
let clientId: string;
beforeAll(async () => {
  setting = await createTestDatabase();
  workspace = await setting.seedWorkspace();
});
afterAll(() => setting.drop());
beforeEach(async () => {
  clientId = await makePayingClient(workspace);
});

const now = new Date('2026-02-01T00:00:00Z');
const later = new Date('2026-03-01T00:00:00Z');
const run: typeof inTransaction = (...args) => inTransaction(...args);
const grant = (source: 'plan' | 'package' | 'extra' | 'grant', amount: number, key: string, expiresAt: Date | null) =>
  run(workspace.db, (trx) =>
    grantCredits(trx, { workspaceId: workspace.workspaceId, clientId, source, amount, key, expiresAt, now }),
  );
const close = (key: string) =>
  run(workspace.db, (trx) => closeIncludedLots(trx, { workspaceId: workspace.workspaceId, clientId, key, now }));
const reverse = (grantKey: string, key: string) =>
  run(workspace.db, (trx) => reverseGrant(trx, { workspaceId: workspace.workspaceId, clientId, grantKey, key, now }));
const balance = async () => (await balancesOf(workspace.db, workspace.workspaceId, [clientId])).get(clientId);
const entries = async () => {
  const rows = await workspace.db
    .selectFrom('credit_entries')
    .select(['key', 'kind', 'amount'])
    .where('client_id', '=', clientId)
    .orderBy('kind')
    .orderBy('amount')
    .execute();
  return rows.map(({ key, kind, amount }) => `${key} ${kind} ${amount}`);
};
/** As a turn would, so that lots have less than they began with. */
const use = async (key: string, amount: number) => {
  await sql`update credit_lots set remaining = remaining - ${amount} where client_id = ${clientId} and grant_key = ${key} and source = 'plan'`.execute(
    workspace.db,
  );
  await sql`update credit_accounts set included = included - ${amount} where client_id = ${clientId}`.execute(
    workspace.db,
  );
};

describe('a grant', () => {
  test('adds to what is included, and bought credits to the extra ones', async () => {
    expect(await grant('plan', 100, 'p1', later)).toBe(true);
    expect(await grant('package', 20, 'p1', later)).toBe(true);
    expect(await grant('grant', 3, 'operator', null)).toBe(true);
    expect(await grant('extra', 50, 'pack', null)).toBe(true);
    expect(await balance()).toEqual({ included: 123, extra: 50, usedThisPeriod: 0, isUnlimited: false });
    expect(await entries()).toEqual(['operator grant 3', 'p1 grant 20', 'pack grant 50', 'p1 grant 100']);
  });

  test('of one cause counts once, also when many come at once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => grant('plan', 100, 'p1', later)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await balance()).toMatchObject({ included: 100 });
    expect(await entries()).toEqual(['p1 grant 100']);
  });

  test('of nothing stores nothing', async () => {
    expect(await grant('plan', 0, 'p1', later)).toBe(false);
    expect(await entries()).toEqual([]);
  });

  test('of less than nothing, and without an account, is an error', async () => {
    await expect(grant('plan', -1, 'p1', later)).rejects.toThrow('credit_lots_amount_check');
    const another = await setting.seedWorkspace();
    const foreign = run(another.db, (trx) =>
      grantCredits(trx, {
        workspaceId: another.workspaceId,
        clientId,
        source: 'grant',
        amount: 1,
        key: 'k',
        expiresAt: null,
        now,
      }),
    );
    await expect(foreign).rejects.toThrow('credit_lots_account_fkey');
  });
});

describe('the end of a period', () => {
  test('closes what the plan and its package gave with an expiry; grants, bought credits and lots without one stay', async () => {
    await grant('plan', 100, 'p1', later);
    await grant('package', 20, 'p1', later);
    await grant('package', 7, 'once', null);
    await grant('grant', 3, 'operator', null);
    await grant('extra', 50, 'pack', null);
    await use('p1', 4);
    await close('p2');
    expect(await balance()).toMatchObject({ included: 10, extra: 50 });
    expect((await entries()).slice(0, 2)).toEqual(['p2 expiry -96', 'p2 expiry -20']);
  });

  test('closes nothing twice, also what the same renewal granted after it', async () => {
    for (const each of [1, 2]) {
      await close('p1');
      expect(await grant('plan', 100, 'p1', later)).toBe(each === 1);
    }
    expect(await balance()).toMatchObject({ included: 100 });
    await close('p2');
    expect(await balance()).toMatchObject({ included: 0 });
  });

  test('a debt takes from what is left, and what remains of it stays until it is paid', async () => {
    await grant('plan', 100, 'p1', later);
    await use('p1', 30);
    await close('p2');
    expect(await reverse('p1', 'refund')).toBe(30);
    expect(await balance()).toMatchObject({ included: -30 });
    await grant('plan', 100, 'p2', later);
    await use('p2', 80);
    expect(await balance()).toMatchObject({ included: -10 });
    await close('p3');
    expect(await balance()).toMatchObject({ included: -10 });
    await grant('plan', 100, 'p3', later);
    expect(await balance()).toMatchObject({ included: 90 });
    await close('p4');
    await grant('plan', 100, 'p4', later);
    expect(await balance()).toMatchObject({ included: 100 });
  });
});

describe('a reversal', () => {
  test('takes what is left, and what was used as a debt; once, whatever its key', async () => {
    await grant('extra', 50, 'pack', null);
    await sql`update credit_lots set remaining = 20 where client_id = ${clientId}`.execute(workspace.db);
    await sql`update credit_accounts set extra = 20 where client_id = ${clientId}`.execute(workspace.db);
    expect(await reverse('pack', 'refund')).toBe(50);
    expect(await reverse('pack', 'refund')).toBe(0);
    expect(await reverse('pack', 'dispute')).toBe(0);
    expect(await balance()).toMatchObject({ extra: -30 });
    expect(await entries()).toEqual(['pack grant 50', 'refund reversal -50']);
  });

  test('of a lot that has expired takes what was used of it', async () => {
    await grant('plan', 100, 'p1', later);
    await use('p1', 1);
    await close('p2');
    expect(await reverse('p1', 'refund')).toBe(1);
    expect(await balance()).toMatchObject({ included: -1 });
  });

  test('of what was never granted takes nothing', async () => {
    expect(await reverse('nothing', 'refund')).toBe(0);
    expect(await entries()).toEqual([]);
  });
});

test('an account is opened once, and its terms can change', async () => {
  const { workspaceId, db } = workspace;
  const terms = (isUnlimited: boolean) => ({ isUnlimited, mayUseExtra: true });
  await grant('plan', 100, 'p1', later);
  await run(db, (trx) => openAccount(trx, workspaceId, clientId, terms(true)));
  expect(await balance()).toMatchObject({ included: 100, isUnlimited: false });
  await run(db, (trx) => setAccountTerms(trx, workspaceId, clientId, terms(true)));
  expect(await balance()).toMatchObject({ included: 100, isUnlimited: true });
});

test('a period counts from 0', async () => {
  await sql`update credit_accounts set used_this_period = 9 where client_id = ${clientId}`.execute(workspace.db);
  await run(workspace.db, (trx) => startUsagePeriod(trx, workspace.workspaceId, clientId));
  expect(await balance()).toMatchObject({ usedThisPeriod: 0 });
});

test('balances are those of the clients that are asked for, of this workspace', async () => {
  const another = await makePayingClient(workspace, { credits: 5 });
  const foreign = await setting.seedWorkspace();
  expect(await balancesOf(workspace.db, workspace.workspaceId, [])).toEqual(new Map());
  expect([...(await balancesOf(workspace.db, workspace.workspaceId, [another, clientId])).keys()].sort()).toEqual(
    [another, clientId].sort(),
  );
  expect(await balancesOf(foreign.db, foreign.workspaceId, [another])).toEqual(new Map());
  expect(await findExpiredLots(setting.database.system, later, 10)).toEqual({ due: [], next: undefined });
});

describe('the ledger', () => {
  test.each(['app', 'system'] as const)('cannot be changed or removed by the role of %s', async (role) => {
    await grant('plan', 100, 'p1', later);
    const db = role === 'app' ? workspace.db : setting.database.system;
    const { workspaceId } = workspace;
    await expect(
      sql`update credit_entries set amount = 0 where workspace_id = ${workspaceId}`.execute(db),
    ).rejects.toThrow('permission denied');
    await expect(sql`delete from credit_entries where workspace_id = ${workspaceId}`.execute(db)).rejects.toThrow(
      'permission denied',
    );
    await expect(
      sql`delete from clients where workspace_id = ${workspaceId} and id = ${clientId}`.execute(db),
    ).rejects.toThrow('credit_accounts_client_fkey');
    expect(await entries()).toEqual(['p1 grant 100']);
  });
});
