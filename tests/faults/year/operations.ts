import { sql } from 'kysely';
import { connectDatabase, type Database } from '../../../db/connect.ts';
import { closeExpiredLot, findExpiredLots } from '../../../db/queries/credits/lots.ts';
import { beginConversation } from '../../../db/queries/turns/beginConversation.ts';
import { finishTurn } from '../../../db/queries/turns/finishTurn.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { redeemCoupon } from '../../../domain/billing/redemptions.ts';
import { advanceClient } from '../../../domain/clients/renewals.ts';
import {
  cancelSubscription,
  changePlanAtPeriodEnd,
  changePlanNow,
  markPaid,
  markPastDue,
  renewPeriod,
  resumeSubscription,
  startPlan,
  suspendSubscription,
} from '../../../domain/clients/subscription.ts';
import { grantCredits, reverseGrant } from '../../../domain/credits/credits.ts';
import { interruptDead } from '../../support/turns/interruptDead.ts';
import { turnEnd, turnStart } from '../../support/turns/storedTurns.ts';

/** A period of a subscription at a provider. Times are milliseconds. */
export interface ProvidersPeriod {
  subscriptionId: string;
  start: number;
  end: number;
}

/** Something that happens to a client at a time. `key` is its cause: the same cause counts once, however often it is told. */
export type Operation = { workspaceId: string; client: string; at: number; key: string } & (
  | {
      kind: 'start';
      plan: string;
      status: 'active' | 'trialing';
      credits?: number;
      end?: number;
      provider?: ProvidersPeriod;
      coupon?: string;
    }
  | { kind: 'advance' | 'past_due' | 'paid' | 'cancel' | 'suspend' | 'resume' | 'expire' }
  | { kind: 'renew'; start: number; end: number }
  | { kind: 'change_later'; plan: string }
  | { kind: 'change_now'; plan: string; provider?: ProvidersPeriod }
  | { kind: 'grant'; source: 'grant' | 'extra'; amount: number; expiresAt: number | null }
  | { kind: 'reverse'; grantKey: string }
  | { kind: 'message'; agent: string; turn: string; conversation: string; cost: number; dies: boolean }
);

/** What became of an operation, where its caller is told. */
export type Outcome = 'done' | 'refused';

/** Does an operation with the service's own rules. It can be done again after a process died at it, whenever that was. */
export async function perform(database: Database, operation: Operation): Promise<Outcome> {
  const { workspaceId, client: id, at, key } = operation;
  const db = database.forWorkspace(workspaceId);
  if (operation.kind === 'message') return sendMessage(database, operation);
  const now = new Date(at);
  const change = { client: { workspace_id: workspaceId, id }, key, now };
  await inTransaction(db, async (trx) => {
    switch (operation.kind) {
      case 'start': {
        const { plan, status, credits, end, provider, coupon: code } = operation;
        const known = await trx
          .selectFrom('client_changes')
          .select('key')
          .where('client_id', '=', id)
          .where('key', '=', key)
          .executeTakeFirst();
        if (known) return;
        const coupon = code
          ? await redeemCoupon(trx, workspaceId, { code, planId: plan, now }).catch((error: { code?: string }) => {
              if (error.code !== 'COUPON_RULE_VIOLATED') throw error;
              return undefined;
            })
          : undefined;
        await startPlan(trx, {
          ...change,
          plan: { id: plan },
          status,
          credits,
          periodEnd: end === undefined ? undefined : new Date(end),
          ...(coupon ? { coupon: { id: coupon.id, endsAt: null } } : {}),
          ...(provider ? { provider: { customerId: `cus-${id}`, ...periodOf(provider) } } : {}),
        });
        return;
      }
      case 'advance':
        return void (await advanceClient(trx, change.client, now));
      case 'past_due':
        return void (await markPastDue(trx, change));
      case 'paid':
        return void (await markPaid(trx, change));
      case 'cancel':
        return void (await cancelSubscription(trx, change));
      case 'suspend':
        return void (await suspendSubscription(trx, { ...change, code: 'other', reason: null }));
      case 'resume':
        await resumeSubscription(trx, change);
        return void (await advanceClient(trx, change.client, now));
      case 'renew': {
        const { start, end } = operation;
        return void (await renewPeriod(trx, { ...change, periodStart: new Date(start), periodEnd: new Date(end) }));
      }
      case 'change_later':
        return void (await changePlanAtPeriodEnd(trx, { ...change, plan: { id: operation.plan } }));
      case 'change_now': {
        const { plan, provider } = operation;
        return void (await changePlanNow(trx, {
          ...change,
          plan: { id: plan },
          ...(provider ? { provider: periodOf(provider) } : {}),
        }));
      }
      case 'grant': {
        const { source, amount, expiresAt: end } = operation;
        const expiresAt = end === null ? null : new Date(end);
        return void (await grantCredits(trx, { workspaceId, clientId: id, source, amount, expiresAt, key, now }));
      }
      case 'reverse':
        return void (await reverseGrant(trx, { workspaceId, clientId: id, grantKey: operation.grantKey, key, now }));
      case 'expire': {
        const { due } = await findExpiredLots(database.system, now, 1_000);
        for (const lot of due.filter(({ client_id }) => client_id === id)) await closeExpiredLot(trx, lot, now);
      }
    }
  });
  return 'done';
}

const periodOf = ({ subscriptionId, start, end }: ProvidersPeriod) => ({
  subscriptionId,
  periodStart: new Date(start),
  periodEnd: new Date(end),
});

async function sendMessage(
  database: Database,
  {
    workspaceId,
    client,
    agent: agentId,
    turn: turnId,
    conversation: conversationId,
    cost,
    dies,
    at,
  }: Extract<Operation, { kind: 'message' }>,
): Promise<Outcome> {
  const db = database.forWorkspace(workspaceId);
  const now = new Date(at);
  const payment = { payer: client, externalUserId: conversationId, hasBudgets: false };
  const held = { workspaceId, conversationId, turnId, attempt: 1 };
  const known = await db.selectFrom('conversations').select('id').where('id', '=', conversationId).executeTakeFirst();
  if (!known) {
    const start = turnStart({ ...held, agentId, now, payment });
    const begun = await beginConversation(db, start, { externalUserId: conversationId, isTest: false, metadata: {} });
    if (!begun) return 'refused';
  }
  // A process that died: its lease passes, and the sweep gives back what it had reserved.
  if (dies) {
    await sql`update conversations set turn_expires_at = now() - interval '1 s' where workspace_id = ${workspaceId} and id = ${conversationId}
      and turn_id is not null`.execute(db);
    await interruptDead(database, now);
  } else await finishTurn(db, held, turnEnd('Done.', { costOps: cost, isPaid: true, now }));
  return 'done';
}

// Run as a program it does the operations of its standard input, a line each, and tells of each that is done.
if (process.argv[2] === '--worker') {
  const database = connectDatabase(process.argv[3] ?? '', { poolSize: 2 });
  const chunks: string[] = [];
  for await (const chunk of process.stdin) chunks.push(String(chunk));
  for (const operation of JSON.parse(chunks.join('')) as Operation[])
    process.stdout.write(`${await perform(database, operation)}\n`);
  process.exit();
}
