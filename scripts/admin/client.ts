import { newId } from '../../core/ids.ts';
import type { Database } from '../../db/connect.ts';
import { type ClientRow, type ClientStatus, selectClientChanges } from '../../db/queries/clients/clients.ts';
import { findClientAnywhere, selectClientsAnywhere } from '../../db/queries/clients/clientsAnywhere.ts';
import { selectClientUsers } from '../../db/queries/clients/clientUsers.ts';
import { inTransaction } from '../../db/transaction.ts';
import { activateClient } from '../../domain/clients/activate.ts';
import { balancesOf, grantCredits } from '../../domain/credits/credits.ts';
import { changePlanCommand } from './clientPlan.ts';
import {
  type Command,
  CommandError,
  INT32_MAX,
  optionalUuid,
  refusing,
  requiredNumber,
  table,
  text,
  UsageError,
  uuid,
} from './command.ts';
import { printable } from './printable.ts';

/** Clients that `list` prints, and changes that `show` prints. */
const MAX_LISTED = 1_000;
const MAX_CHANGES = 20;
const MAX_NOTE = 500;
const MAX_KEY = 200;
const STATUSES: readonly ClientStatus[] = [
  'active',
  'past_due',
  'canceled',
  'trialing',
  'pending_onboarding',
  'suspended',
];

function shown(row: ClientRow) {
  return {
    clientPublicId: row.id,
    workspacePublicId: row.workspace_id,
    workspaceName: row.name,
    subscriptionStatus: row.status,
    planPublicId: row.plan_id,
    pendingPlanPublicId: row.pending_plan_id,
    currentPeriodStart: row.period_start,
    currentPeriodEnd: row.period_end,
    nextCreditRenewalAt: row.next_credit_renewal_at,
    providerSubscriptionId: row.provider_subscription_id,
    suspensionReason: row.suspension_code,
    createdAt: row.created_at,
  };
}

async function found({ system }: Database, id: string): Promise<ClientRow> {
  const row = await findClientAnywhere(system, id);
  if (!row) throw new CommandError(`There is no client ${id}`);
  return row;
}

function statusOption(value: unknown): ClientStatus | undefined {
  if (value === undefined) return undefined;
  const status = STATUSES.find((each) => each === value);
  if (!status) throw new UsageError(`--status must be one of ${STATUSES.join(', ')}`);
  return status;
}

/** A moment in ISO 8601, in the future. */
function expiry(value: unknown): Date | null {
  if (value === undefined) return null;
  const at = new Date(String(value));
  if (Number.isNaN(at.getTime()) || at <= new Date())
    throw new UsageError('--expires must be a time in the future, such as 2027-01-31 or 2027-01-31T12:00:00Z');
  return at;
}

/** Clients of the hubs of all workspaces. */
export const clientCommands: Record<string, Command> = {
  list: {
    usage: '[--workspace ID] [--status S]',
    words: 0,
    options: { workspace: { type: 'string' }, status: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = optionalUuid(options.workspace, '--workspace');
      const status = statusOption(options.status);
      return async ({ system }) => {
        const rows = await selectClientsAnywhere(system, { workspaceId, status, limit: MAX_LISTED });
        return {
          json: rows.map(shown),
          text: table(
            ['CLIENT', 'WORKSPACE', 'STATUS', 'PLAN', 'PERIOD ENDS', 'NAME'],
            rows.map((row) => [
              row.id,
              row.workspace_id,
              row.status,
              printable(row.plan_name ?? ''),
              row.period_end?.toISOString() ?? '',
              printable(row.name),
            ]),
          ),
        };
      };
    },
  },
  show: {
    usage: 'ID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'ID');
      return async (database) => {
        const row = await found(database, id);
        const db = database.forWorkspace(row.workspace_id);
        const users = await selectClientUsers(db, row);
        const changes = await selectClientChanges(db, row, MAX_CHANGES);
        const credits = (await balancesOf(db, row.workspace_id, [id])).get(id);
        const lines = [
          `client        ${row.id}`,
          `workspace     ${row.workspace_id}`,
          `name          ${printable(row.name)}`,
          `status        ${row.status}`,
          `plan          ${row.plan_id ?? 'none'}`,
          `period        ${row.period_start?.toISOString() ?? 'none'} to ${row.period_end?.toISOString() ?? 'no end'}`,
          `credits       ${credits?.included ?? 0} included, ${credits?.extra ?? 0} extra, ${credits?.usedThisPeriod ?? 0} used`,
          `next credits  ${row.next_credit_renewal_at?.toISOString() ?? 'none'}`,
        ];
        const userTable = table(
          ['USER', 'ROLE', 'SEEN', 'EMAIL', 'NAME'],
          users.map((user) => [
            user.id,
            user.role,
            user.last_seen_at?.toISOString() ?? 'never',
            printable(user.email),
            printable(user.name),
          ]),
        );
        const changeTable = table(
          ['AT', 'EVENT', 'STATUS', 'CAUSE'],
          changes.map((change) => [
            change.created_at.toISOString(),
            change.kind,
            change.status_after,
            printable(change.key),
          ]),
        );
        return {
          json: {
            ...shown(row),
            creditsBalance: credits?.included ?? 0,
            extraCreditsBalance: credits?.extra ?? 0,
            creditsUsedThisPeriod: credits?.usedThisPeriod ?? 0,
            users: users.map(({ id: publicId, name, email, role }) => ({ publicId, name, email, role })),
            changes: changes.map(({ key, kind, status_after: status, created_at: at }) => ({ at, kind, status, key })),
          },
          text: `${lines.join('\n')}\n\n${userTable}\n\n${changeTable}`,
        };
      };
    },
  },
  activate: {
    usage: 'ID [--plan ID]',
    words: 1,
    options: { plan: { type: 'string' } },
    prepare([word], options) {
      const clientId = uuid(word, 'ID');
      const planId = optionalUuid(options.plan, '--plan');
      return async (database) => {
        const { workspace_id: workspaceId, status } = await found(database, clientId);
        const row = await refusing(
          inTransaction(database.forWorkspace(workspaceId), (trx) =>
            activateClient(trx, { workspaceId, clientId, planId, now: new Date() }),
          ),
        );
        if (!row) throw new CommandError(`Client ${clientId} is ${status}, and waits for no plan`);
        return { json: shown(row), text: `client ${clientId} is ${row.status} on plan ${row.plan_id}` };
      };
    },
  },
  'change-plan': changePlanCommand,
  credit: {
    usage: 'grant ID --credits N [--expires DATE] [--note TEXT] [--key KEY]',
    words: 2,
    options: {
      credits: { type: 'string' },
      expires: { type: 'string' },
      note: { type: 'string' },
      key: { type: 'string' },
    },
    prepare([verb, word], options) {
      if (verb !== 'grant') throw new UsageError('client credit needs grant');
      const clientId = uuid(word, 'ID');
      const amount = requiredNumber(options.credits, '--credits', { min: 1, max: INT32_MAX, integer: true });
      const expiresAt = expiry(options.expires);
      const note = options.note === undefined ? undefined : text(options.note, '--note', MAX_NOTE);
      const key = `operator:${text(options.key, '--key', MAX_KEY, newId())}`;
      return async (database) => {
        const { workspace_id: workspaceId } = await found(database, clientId);
        const db = database.forWorkspace(workspaceId);
        const lot = { workspaceId, clientId, source: 'grant' as const, amount, expiresAt, key, now: new Date(), note };
        const isNew = await inTransaction(db, (trx) => grantCredits(trx, lot));
        const balance = (await balancesOf(db, workspaceId, [clientId])).get(clientId)?.included ?? 0;
        return {
          json: { clientPublicId: clientId, granted: isNew ? amount : 0, creditsBalance: balance },
          text: isNew
            ? `${amount} credits granted; ${balance} included credits are left`
            : `granted before with this key; ${balance} included credits are left`,
        };
      };
    },
  },
};
