import { newId } from '../../core/ids.ts';
import { timeZoneName } from '../../core/timeZone.ts';
import {
  insertWorkspace,
  selectWorkspaces,
  updateWorkspaceRow,
  type Workspace,
  type WorkspaceChange,
} from '../../db/queries/workspaces/workspaces.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Command, CommandError, INT32_MAX, number, table, text, UsageError, uuid } from './command.ts';
import { issueKey } from './key.ts';

const LIMIT = { min: 0, max: INT32_MAX, integer: true };
const OPTIONS = {
  'time-zone': { type: 'string' },
  'agent-limit': { type: 'string' },
  'operation-limit': { type: 'string' },
  'tool-limit': { type: 'string' },
} as const;

/** An IANA time zone, or undefined when the option is absent. */
function timeZone(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const name = typeof value === 'string' ? timeZoneName(value) : undefined;
  if (name === undefined) throw new UsageError('--time-zone must be an IANA name such as Europe/Berlin');
  return name;
}

/** A limit, null for `none`, or undefined when the option is absent. */
const limitOrNone = (value: unknown, name: string) => (value === 'none' ? null : number(value, name, LIMIT));

const shown = (row: Workspace) => ({
  workspacePublicId: row.id,
  name: row.name,
  timeZone: row.time_zone,
  agentLimit: row.agent_limit,
  operationLimit: row.operation_limit,
  toolLimit: row.tool_limit,
  createdAt: row.created_at,
});

/** Workspaces with their limits. */
export const workspaceCommands: Record<string, Command> = {
  create: {
    usage: 'NAME [--time-zone Europe/Berlin] [--agent-limit N] [--operation-limit N] [--tool-limit N]',
    words: 1,
    options: OPTIONS,
    prepare([word], options) {
      const workspace = {
        id: newId(),
        name: text(word, 'NAME', 200),
        timeZone: timeZone(options['time-zone']),
        agentLimit: number(options['agent-limit'], '--agent-limit', LIMIT),
        operationLimit: number(options['operation-limit'], '--operation-limit', LIMIT),
        toolLimit: number(options['tool-limit'], '--tool-limit', LIMIT),
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
    usage: 'ID [--name N] [--time-zone Z] [--agent-limit N|none] [--operation-limit N|none] [--tool-limit N]',
    words: 1,
    options: { ...OPTIONS, name: { type: 'string' } },
    prepare([word], options) {
      const id = uuid(word, 'ID');
      const change: WorkspaceChange = {
        name: options.name === undefined ? undefined : text(options.name, '--name', 200),
        timeZone: timeZone(options['time-zone']),
        agentLimit: limitOrNone(options['agent-limit'], '--agent-limit'),
        operationLimit: limitOrNone(options['operation-limit'], '--operation-limit'),
        toolLimit: number(options['tool-limit'], '--tool-limit', LIMIT),
      };
      if (Object.values(change).every((value) => value === undefined))
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
