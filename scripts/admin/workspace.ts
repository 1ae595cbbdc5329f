import { newId } from '../../core/ids.ts';
import { timeZoneName } from '../../core/timeZone.ts';
import { findHoldings, type LIMIT_COLUMNS, type LimitValues } from '../../db/queries/workspaces/limits.ts';
import { monthNamed, monthUsage } from '../../db/queries/workspaces/usage.ts';
import {
  findWorkspace,
  insertWorkspace,
  selectWorkspaces,
  updateWorkspaceRow,
  type Workspace,
  type WorkspaceChange,
} from '../../db/queries/workspaces/workspaces.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  approvalsBy,
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
import { issueKey } from './key.ts';

/** A limit as the command line and its output name it. */
interface LimitOption {
  option: string;
  field: string;
  column: (typeof LIMIT_COLUMNS)[number];
  min?: number;
  max?: number;
  /** Has no limit by default, and can be set back to that with `none`. */
  clearable?: boolean;
}

const LIMITS: readonly LimitOption[] = [
  { option: 'agent-limit', field: 'agentLimit', column: 'agent_limit', clearable: true },
  { option: 'operation-limit', field: 'operationLimit', column: 'operation_limit', clearable: true },
  { option: 'tool-limit', field: 'toolLimit', column: 'tool_limit' },
  { option: 'skill-limit', field: 'skillLimit', column: 'skill_limit' },
  { option: 'mcp-limit', field: 'externalMcpLimit', column: 'external_mcp_limit' },
  { option: 'knowledge-limit', field: 'knowledgeSourceLimit', column: 'knowledge_source_limit' },
  { option: 'automation-limit', field: 'automationLimit', column: 'automation_limit' },
  { option: 'storage-limit', field: 'storageLimit', column: 'storage_limit', max: Number.MAX_SAFE_INTEGER },
  { option: 'request-limit', field: 'requestLimit', column: 'request_limit' },
  { option: 'turn-limit', field: 'turnLimit', column: 'turn_limit' },
  { option: 'background-limit', field: 'backgroundLimit', column: 'background_limit', min: 1 },
];

const OPTIONS = Object.fromEntries(
  ['time-zone', ...LIMITS.map(({ option }) => option)].map((option) => [option, { type: 'string' } as const]),
);
const usageOfLimits = (none: string) =>
  LIMITS.map(({ option, clearable }) => `[--${option} N${clearable ? none : ''}]`).join(' ');

/** An IANA time zone, or undefined when the option is absent. */
function timeZone(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const name = typeof value === 'string' ? timeZoneName(value) : undefined;
  if (name === undefined) throw new UsageError('--time-zone must be an IANA name such as Europe/Berlin');
  return name;
}

/** The limits that are given; null for `none`, where a workspace that exists is changed. */
function limits(options: Options, { isChange }: { isChange: boolean }): LimitValues {
  const given: LimitValues = {};
  for (const { option, column, min = 0, max = INT32_MAX, clearable } of LIMITS) {
    const value = options[option];
    if (value === undefined) continue;
    const none = isChange && clearable && value === 'none';
    given[column] = none ? null : (number(value, `--${option}`, { min, max, integer: true }) ?? null);
  }
  return given;
}

const shown = (row: Workspace) => ({
  workspacePublicId: row.id,
  name: row.name,
  timeZone: row.time_zone,
  approvalsBy: row.approvals_by ?? 'default',
  ...Object.fromEntries(LIMITS.map(({ field, column }) => [field, row[column]])),
  createdAt: row.created_at,
});

/** Workspaces with their limits. */
export const workspaceCommands: Record<string, Command> = {
  create: {
    usage: `NAME [--time-zone Europe/Berlin] ${usageOfLimits('')}`,
    words: 1,
    options: OPTIONS,
    prepare([word], options) {
      const workspace = {
        id: newId(),
        name: text(word, 'NAME', 200),
        timeZone: timeZone(options['time-zone']),
        limits: limits(options, { isChange: false }),
      };
      return async (database) => {
        const { id: apiKeyPublicId, apiKey } = await inTransaction(database.system, async (transaction) => {
          await insertWorkspace(transaction, workspace);
          return await issueKey(transaction, workspace.id, 'Default');
        });
        return {
          json: { workspacePublicId: workspace.id, apiKeyPublicId, apiKey },
          text: `workspace ${workspace.id}\nkey       ${apiKeyPublicId}\n${apiKey}\nKeep this key: it is not shown again.`,
        };
      };
    },
  },
  update: {
    usage: `ID [--name N] [--time-zone Z] [--approvals-by user|operator|default] ${usageOfLimits('|none')}`,
    words: 1,
    options: { ...OPTIONS, name: { type: 'string' }, 'approvals-by': { type: 'string' } },
    prepare([word], options) {
      const id = uuid(word, 'ID');
      const change: WorkspaceChange = {
        name: options.name === undefined ? undefined : text(options.name, '--name', 200),
        timeZone: timeZone(options['time-zone']),
        approvalsBy: approvalsBy(options['approvals-by']),
        limits: limits(options, { isChange: true }),
      };
      if (Object.values({ ...change, ...change.limits, limits: undefined }).every((value) => value === undefined))
        throw new UsageError('Give at least one option to change');
      return async (database) => {
        const row = await inTransaction(database.system, (transaction) =>
          updateWorkspaceRow(transaction, id, change, new Date()),
        );
        if (!row) throw new CommandError(`There is no workspace ${id}`);
        return { json: shown(row), text: `workspace ${id} is changed` };
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
        const row = await findWorkspace(database.system, id);
        if (!row) throw new CommandError(`There is no workspace ${id}`);
        const db = database.forWorkspace(id);
        const now = new Date();
        const holdings = await findHoldings(db, id, now);
        const { operations } = await monthUsage(db, id, monthNamed(now.toISOString().slice(0, 7)));
        const used = { ...holdings, operations };
        const lines: [string, number | null, number | null][] = [
          ['agents', used.agents, row.agent_limit],
          ['operations of this month', operations, row.operation_limit],
          ['tools', used.tools, row.tool_limit],
          ['skills', used.skills, row.skill_limit],
          ['MCP servers', used.externalMcps, row.external_mcp_limit],
          ['knowledge sources', used.knowledgeSources, row.knowledge_source_limit],
          ['automations', used.automations, row.automation_limit],
          ['bytes of stored files', used.storageBytes, row.storage_limit],
          ['requests under way, each process', null, row.request_limit],
          ['messages under way, each process', null, row.turn_limit],
          ['background turns, each process', null, row.background_limit],
        ];
        return {
          json: { ...shown(row), used },
          text: table(
            ['OF', 'USED', 'LIMIT'],
            lines.map(([name, count, limit]) => [name, String(count ?? ''), String(limit ?? 'none')]),
          ),
        };
      };
    },
  },
  list: {
    usage: '',
    words: 0,
    options: {},
    prepare: () => async (database) => {
      const rows = await selectWorkspaces(database.system);
      return {
        json: rows.map(shown),
        text: table(
          ['WORKSPACE', 'CREATED', 'TIME ZONE', 'NAME'],
          rows.map((row) => [row.id, row.created_at.toISOString(), row.time_zone, row.name]),
        ),
      };
    },
  },
};
