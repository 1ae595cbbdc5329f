import { newId } from '../../core/ids.ts';
import { createWorkspace, listWorkspaces } from '../../db/queries/workspaces.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Command, INT32_MAX, number, table, text } from './command.ts';
import { issueKey } from './key.ts';

const LIMIT = { min: 0, max: INT32_MAX, integer: true };

/** Workspaces with their limits. */
export const workspaceCommands: Record<string, Command> = {
  create: {
    usage: 'NAME [--agent-limit N] [--operation-limit N] [--tool-limit N]',
    words: 1,
    options: {
      'agent-limit': { type: 'string' },
      'operation-limit': { type: 'string' },
      'tool-limit': { type: 'string' },
    },
    prepare([word], options) {
      const workspace = {
        id: newId(),
        name: text(word, 'NAME', 200),
        agentLimit: number(options['agent-limit'], '--agent-limit', LIMIT),
        operationLimit: number(options['operation-limit'], '--operation-limit', LIMIT),
        toolLimit: number(options['tool-limit'], '--tool-limit', LIMIT),
      };
      return async (database) => {
        const { id: apiKeyPublicId, apiKey } = await inTransaction(database.system, async (transaction) => {
          await createWorkspace(transaction, workspace);
          return await issueKey(transaction, workspace.id, 'Default');
        });
        return {
          json: { workspacePublicId: workspace.id, apiKeyPublicId, apiKey },
          text: `workspace ${workspace.id}\nkey       ${apiKeyPublicId}\n${apiKey}\nKeep this key: it is not shown again.`,
        };
      };
    },
  },
  list: {
    usage: '',
    words: 0,
    options: {},
    prepare: () => async (database) => {
      const rows = await listWorkspaces(database.system);
      return {
        json: rows.map((row) => ({
          workspacePublicId: row.id,
          name: row.name,
          agentLimit: row.agent_limit,
          operationLimit: row.operation_limit,
          toolLimit: row.tool_limit,
          createdAt: row.created_at,
        })),
        text: table(
          ['WORKSPACE', 'CREATED', 'NAME'],
          rows.map((row) => [row.id, row.created_at.toISOString(), row.name]),
        ),
      };
    },
  },
};
