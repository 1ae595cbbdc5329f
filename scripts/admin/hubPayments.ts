import { addressHash } from '../../core/publicAddress.ts';
import type { Database } from '../../db/connect.ts';
import { ensureHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import { replayPaymentEvent, selectPaymentEvents } from '../../db/queries/payments/events.ts';
import { insertPublicAddress } from '../../db/queries/workspaces/publicAddresses.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { inTransaction } from '../../db/transaction.ts';
import { paymentAddress } from '../../domain/payments/address.ts';
import { forgetPaymentObjects, removePaymentAddresses, usesOfPayments } from '../../domain/payments/mode.ts';
import { PAYMENT_EVENT_TYPES } from '../../integrations/payments/events.ts';
import { STRIPE_API_VERSION } from '../../integrations/payments/version.ts';
import { readConfig } from '../../server/config.ts';
import { type Command, CommandError, number, table, UsageError, uuid } from './command.ts';
import { fromEnv } from './fromEnv.ts';
import { originOf } from './origin.ts';
import { printable } from './printable.ts';

const WORKSPACE = { workspace: { type: 'string' } } as const;
const ACCOUNT = /^acct_[A-Za-z0-9_]{1,90}$/;
const STATUSES = ['received', 'applied', 'ignored', 'failed'] as const;

async function requireWorkspace(database: Database, workspaceId: string): Promise<void> {
  if (!(await findWorkspace(database.system, workspaceId)))
    throw new CommandError(`There is no workspace ${workspaceId}`);
}

/** The mode that the options name. Throws UsageError unless they name one. */
function modeOf(options: { account?: unknown; own?: unknown; off?: unknown }): {
  mode: 'account' | 'own' | 'invoice';
  account: string | null;
} {
  const given = [options.account !== undefined, options.own === true, options.off === true].filter(Boolean).length;
  if (given !== 1) throw new UsageError('Give one of --account, --own and --off');
  if (options.own === true) return { mode: 'own', account: null };
  if (options.off === true) return { mode: 'invoice', account: null };
  if (typeof options.account !== 'string' || !ACCOUNT.test(options.account))
    throw new UsageError('--account must be an account of Stripe such as acct_1A2b3C');
  return { mode: 'account', account: options.account };
}

/** How the hub of a workspace is paid. */
export const hubPaymentsCommands: Record<string, Command> = {
  'payments show': {
    usage: '--workspace ID',
    words: 0,
    options: WORKSPACE,
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      return async (database, env) => {
        await requireWorkspace(database, workspaceId);
        const hub = await ensureHub(database.forWorkspace(workspaceId), workspaceId);
        const json = {
          workspacePublicId: workspaceId,
          mode: hub.payment_mode,
          account: hub.payment_account,
          applicationFeePercent: hub.application_fee_percent === null ? null : Number(hub.application_fee_percent),
          webhookUrl: `${originOf(env)}/hooks/payments`,
          apiVersion: STRIPE_API_VERSION,
          eventTypes: PAYMENT_EVENT_TYPES,
          hasSecretKey: fromEnv(env, readConfig).payments.secretKey !== undefined,
        };
        const text = [
          `mode      ${json.mode}${json.account === null ? '' : ` (${json.account})`}`,
          `fee       ${json.applicationFeePercent === null ? 'none' : `${json.applicationFeePercent} %`}`,
          `webhook   ${json.webhookUrl}`,
          `version   ${json.apiVersion}`,
          `events    ${json.eventTypes.join(', ')}`,
        ].join('\n');
        return { json, text };
      };
    },
  },
  'payments set': {
    usage:
      '--workspace ID --account acct_… [--fee PERCENT]   (or --own: the account of the installation, for a single hub; --off: by invoice)',
    words: 0,
    options: {
      ...WORKSPACE,
      account: { type: 'string' },
      own: { type: 'boolean' },
      off: { type: 'boolean' },
      fee: { type: 'string' },
    },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const { mode, account } = modeOf(options);
      const fee = number(options.fee, '--fee', { min: 0, max: 100 });
      if (fee !== undefined && mode !== 'account') throw new UsageError('Only a connected account pays a fee');
      if (fee !== undefined && Math.round(fee * 100) / 100 !== fee)
        throw new UsageError('--fee has at most two decimals');
      return async (database, env) => {
        await requireWorkspace(database, workspaceId);
        if (mode !== 'invoice' && fromEnv(env, readConfig).payments.secretKey === undefined)
          throw new CommandError('Set STRIPE_SECRET_KEY first');
        const db = database.forWorkspace(workspaceId);
        await ensureHub(db, workspaceId);
        await inTransaction(db, async (trx) => {
          const hub = await ensureHub(trx, workspaceId);
          if (hub.payment_mode !== mode || hub.payment_account !== account) {
            const uses = await usesOfPayments(trx, workspaceId);
            if (uses > 0)
              throw new CommandError(
                `${uses} subscriptions and open checkouts are at the present account. End them first`,
              );
            await forgetPaymentObjects(trx, { workspaceId, now: new Date() }, hub);
            await removePaymentAddresses(trx, workspaceId);
            if (mode !== 'invoice') {
              await insertPublicAddress(trx, {
                address_hash: addressHash(paymentAddress(account)),
                workspace_id: workspaceId,
                kind: 'payments',
                target_id: hub.id,
              });
            }
          }
          await updateHubRow(trx, workspaceId, {
            payment_mode: mode,
            payment_account: account,
            application_fee_percent: fee ?? null,
            updated_at: new Date(),
          });
        }).catch((error: unknown) => {
          // The table of addresses has each account once: for events it must be clear whose they are.
          if ((error as { constraint?: string }).constraint === 'public_addresses_pkey')
            throw new CommandError(
              mode === 'own'
                ? 'Another workspace uses the account of the installation'
                : 'Another workspace uses this account',
            );
          throw error;
        });
        return {
          json: { workspacePublicId: workspaceId, mode, account, applicationFeePercent: fee ?? null },
          text: `the hub of ${workspaceId} is paid ${mode === 'invoice' ? 'by invoice' : `through ${account ?? 'the account of the installation'}`}`,
        };
      };
    },
  },
  'payments events': {
    usage: '--workspace ID [--status received|applied|ignored|failed] [--retry EVENT]',
    words: 0,
    options: { ...WORKSPACE, status: { type: 'string' }, retry: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const status = STATUSES.find((each) => each === options.status);
      if (options.status !== undefined && !status)
        throw new UsageError(`--status must be one of ${STATUSES.join(', ')}`);
      const { retry } = options;
      return async (database) => {
        await requireWorkspace(database, workspaceId);
        const db = database.forWorkspace(workspaceId);
        if (typeof retry === 'string' && !(await replayPaymentEvent(db, workspaceId, retry, new Date())))
          throw new CommandError(`There is no failed or ignored event ${printable(retry)}`);
        const rows = await selectPaymentEvents(db, workspaceId, { status, limit: 100 });
        return {
          json: rows.map((row) => ({
            id: row.id,
            type: row.type,
            status: row.status,
            attempts: row.attempts,
            reason: row.error_message,
            createdAt: row.created_at,
            receivedAt: row.received_at,
            settledAt: row.settled_at,
          })),
          text: table(
            ['EVENT', 'TYPE', 'STATUS', 'ATTEMPTS', 'RECEIVED', 'REASON'],
            rows.map((row) => [
              printable(row.id),
              printable(row.type),
              row.status,
              String(row.attempts),
              row.received_at.toISOString(),
              printable(row.error_message ?? ''),
            ]),
          ),
        };
      };
    },
  },
};
