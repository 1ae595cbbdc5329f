import type { Kysely } from 'kysely';
import type { Database } from '../../db/connect.ts';
import {
  type Budget,
  type BudgetTarget,
  insertBudget,
  removeBudget,
  selectBudgets,
} from '../../db/queries/credits/budgets.ts';
import { revising } from '../../db/queries/workspaces/revision.ts';
import { monthNamed, monthUsage } from '../../db/queries/workspaces/usage.ts';
import { findWorkspace, updateWorkspaceRow, type Workspace } from '../../db/queries/workspaces/workspaces.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import {
  type Command,
  CommandError,
  INT32_MAX,
  number,
  type Options,
  table,
  text,
  UsageError,
  uuid,
} from './command.ts';
import { printable, usd } from './printable.ts';

const TARGET_OPTIONS = {
  workspace: { type: 'string' },
  agent: { type: 'string' },
  client: { type: 'string' },
  'end-user': { type: 'string' },
} as const;
const TARGET_USAGE = '--workspace ID [--agent ID|--client ID|--end-user EXTERNALID]';

/** Most of a budget in USD. */
const MAX_USD = 1_000_000_000;

/** What the options name: the workspace itself, or one of its agents, clients or end users. */
function targetOf(options: Options): { workspaceId: string } & Omit<BudgetTarget, 'unit'> {
  const workspaceId = uuid(options.workspace, '--workspace');
  const given = (['agent', 'client', 'end-user'] as const).filter((name) => options[name] !== undefined);
  const [name, ...others] = given;
  if (others.length > 0) throw new UsageError('Give one of --agent, --client and --end-user');
  if (name === undefined) return { workspaceId, scope: 'workspace', target: workspaceId };
  if (name === 'end-user') return { workspaceId, scope: 'end_user', target: text(options[name], '--end-user', 255) };
  return { workspaceId, scope: name, target: uuid(options[name], `--${name}`).toLowerCase() };
}

async function workspaceNamed({ system }: Database, id: string): Promise<Workspace> {
  const workspace = await findWorkspace(system, id);
  if (!workspace) throw new CommandError(`There is no workspace ${id}`);
  return workspace;
}

/** Throws when the workspace has no such agent or client. */
async function checkTarget(db: Kysely<DB>, workspaceId: string, { scope, target }: Omit<BudgetTarget, 'unit'>) {
  if (scope !== 'agent' && scope !== 'client') return;
  const found = await db
    .selectFrom(scope === 'agent' ? 'agents' : 'clients')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', target)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!found) throw new CommandError(`The workspace has no ${scope} ${target}`);
}

const isQuota = ({ scope, unit }: Pick<BudgetTarget, 'scope' | 'unit'>) =>
  scope === 'workspace' && unit === 'operations';

/** The quota of the workspace, as a budget: it counts operations since longer than there are budgets. */
async function quotaAsBudget(
  database: Database,
  { id, operation_limit }: Workspace,
  now: Date,
): Promise<Omit<Budget, 'id'>[]> {
  if (operation_limit === null) return [];
  const month = monthNamed(now.toISOString().slice(0, 7));
  const { operations, operationsCounted } = await monthUsage(database.forWorkspace(id), id, month);
  const used = operationsCounted ?? operations;
  return [{ scope: 'workspace', target: id, unit: 'operations', amount: operation_limit, used, reserved: 0 }];
}

/** Sets the quota of a workspace; null = none. False when the workspace is gone. */
async function setQuota({ system }: Database, workspaceId: string, limit: number | null): Promise<boolean> {
  const limits = { operation_limit: limit };
  return await inTransaction(
    system,
    async (trx) => (await updateWorkspaceRow(trx, workspaceId, { limits }, new Date())) !== undefined,
  );
}

const shown = ({ scope, target, unit, amount, used, reserved }: Omit<Budget, 'id'>) => ({
  scope,
  target,
  unit,
  amount,
  used,
  reserved,
});

const amountOf = (unit: Budget['unit'], value: number) => (unit === 'usd' ? usd(value) : String(value));

/** Hard limits of a calendar month. */
export const budgetCommands: Record<string, Command> = {
  set: {
    usage: `${TARGET_USAGE} --operations N|--usd X`,
    words: 0,
    options: { ...TARGET_OPTIONS, operations: { type: 'string' }, usd: { type: 'string' } },
    prepare(_words, options) {
      const { workspaceId, ...of } = targetOf(options);
      const operations = number(options.operations, '--operations', { min: 0, max: INT32_MAX, integer: true });
      const dollars = number(options.usd, '--usd', { min: 0, max: MAX_USD });
      if ((operations === undefined) === (dollars === undefined))
        throw new UsageError('Give one of --operations and --usd');
      const unit = operations === undefined ? 'usd' : 'operations';
      const amount = operations ?? dollars ?? 0;
      return async (database) => {
        await workspaceNamed(database, workspaceId);
        if (isQuota({ ...of, unit })) {
          await setQuota(database, workspaceId, amount);
        } else {
          await revising(database.forWorkspace(workspaceId), workspaceId, async (trx) => {
            await checkTarget(trx, workspaceId, of);
            await insertBudget(trx, workspaceId, { ...of, unit, amount, now: new Date() });
            return true;
          });
        }
        return {
          json: { ...of, unit, amount },
          text: `${of.scope} ${printable(of.target)}: at most ${amountOf(unit, amount)} ${unit} a month (UTC)`,
        };
      };
    },
  },
  list: {
    usage: '--workspace ID',
    words: 0,
    options: { workspace: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      return async (database) => {
        const now = new Date();
        const workspace = await workspaceNamed(database, workspaceId);
        const quota = await quotaAsBudget(database, workspace, now);
        const budgets = [...quota, ...(await selectBudgets(database.forWorkspace(workspaceId), workspaceId, now))];
        return {
          json: budgets.map(shown),
          text: table(
            ['SCOPE', 'UNIT', 'AMOUNT', 'USED', 'RESERVED', 'OF'],
            budgets.map(({ scope, target, unit, amount, used, reserved }) => [
              scope,
              unit,
              ...[amount, used, reserved].map((value) => amountOf(unit, value)),
              printable(target),
            ]),
          ),
        };
      };
    },
  },
  remove: {
    usage: `${TARGET_USAGE} --unit operations|usd`,
    words: 0,
    options: { ...TARGET_OPTIONS, unit: { type: 'string' } },
    prepare(_words, options) {
      const { workspaceId, ...of } = targetOf(options);
      const { unit } = options;
      if (unit !== 'operations' && unit !== 'usd') throw new UsageError('--unit must be operations or usd');
      return async (database) => {
        const workspace = await workspaceNamed(database, workspaceId);
        const isThere = isQuota({ ...of, unit })
          ? workspace.operation_limit !== null && (await setQuota(database, workspaceId, null))
          : await revising(database.forWorkspace(workspaceId), workspaceId, (trx) =>
              removeBudget(trx, workspaceId, { ...of, unit }),
            );
        if (!isThere) throw new CommandError('There is no such budget');
        return { json: { ...of, unit }, text: 'removed' };
      };
    },
  },
};
