import { type ModelUsage, modelUsage, monthNamed, monthUsage } from '../../db/queries/workspaces/usage.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { type Command, CommandError, table, UsageError, uuid } from './command.ts';
import { printable, usd } from './printable.ts';

const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

function month(value: unknown): string {
  if (value === undefined) return new Date().toISOString().slice(0, 7);
  if (typeof value !== 'string' || !MONTH.test(value)) throw new UsageError('--month must be a month such as 2026-03');
  return value;
}

function shown({ agentId, agentName, ...rest }: ModelUsage) {
  return { agentPublicId: agentId, agentName, ...rest };
}

function byModel(rows: readonly ModelUsage[]): string {
  return table(
    ['AGENT', 'MODEL', 'CALLS', 'TOKENS IN', 'TOKENS OUT', 'USD', 'NAME'],
    rows.map((row) => [
      row.agentId,
      printable(`${row.provider}/${row.model}`),
      ...[row.calls, row.inputTokens, row.outputTokens].map(String),
      usd(row.costUsd),
      printable(row.agentName ?? ''),
    ]),
  );
}

/** The usage of a workspace in a calendar month, in UTC. */
export const usageCommands: Record<string, Command> = {
  show: {
    usage: '--workspace ID [--month YYYY-MM]',
    words: 0,
    options: { workspace: { type: 'string' }, month: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const name = month(options.month);
      return async (database) => {
        const workspace = await findWorkspace(database.system, workspaceId);
        if (!workspace) throw new CommandError(`There is no workspace ${workspaceId}`);
        const db = database.forWorkspace(workspaceId);
        const used = await monthUsage(db, workspaceId, monthNamed(name));
        const models = await modelUsage(db, workspaceId, monthNamed(name));
        const { operation_limit: limit } = workspace;
        const counted = used.operationsCounted === null ? '' : `, ${used.operationsCounted} counted`;
        return {
          json: {
            workspacePublicId: workspaceId,
            month: name,
            operationLimit: limit,
            ...used,
            models: models.map(shown),
          },
          text: [
            `month      ${name} (UTC)`,
            `operations ${used.operations}${limit === null ? ', no limit' : ` of ${limit}${counted}`}`,
            `turns      ${used.turns}, ${used.turnsFailed} of them failed or interrupted`,
            `tokens     ${used.inputTokens} in, ${used.outputTokens} out`,
            `cost       ${usd(used.costUsd)}`,
            '',
            byModel(models),
          ].join('\n'),
        };
      };
    },
  },
};
