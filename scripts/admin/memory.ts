import { forgetUser, selectUserMemories } from '../../db/queries/conversations/memories.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { type Command, CommandError, type Options, table, text, uuid } from './command.ts';

const options = { workspace: { type: 'string' }, user: { type: 'string' }, agent: { type: 'string' } } as const;
const usage = '--workspace ID --user EXTERNALUSERID [--agent AGENTID]';

/** The end user, and the agent if one is given; otherwise the facts of all agents are meant. */
function subject(given: Options) {
  return {
    workspaceId: uuid(given.workspace, '--workspace'),
    user: {
      externalUserId: text(given.user, '--user', 255),
      ...(given.agent === undefined ? {} : { agentId: uuid(given.agent, '--agent') }),
    },
  };
}

/** The facts that agents with long-term memory store about an end user. People have a right to read and erase them under data protection law. */
export const memoryCommands: Record<string, Command> = {
  list: {
    usage,
    words: 0,
    options,
    prepare(_words, given) {
      const { workspaceId, user } = subject(given);
      return async (database) => {
        const rows = await selectUserMemories(database.forWorkspace(workspaceId), workspaceId, user);
        return {
          json: rows.map((row) => ({
            memoryPublicId: row.id,
            agentPublicId: row.agent_id,
            fact: row.fact,
            createdAt: row.created_at,
            updatedAt: row.updated_at,
          })),
          text: table(
            ['AGENT', 'UPDATED', 'FACT'],
            rows.map((row) => [row.agent_id, row.updated_at.toISOString(), row.fact]),
          ),
        };
      };
    },
  },
  forget: {
    usage,
    words: 0,
    options,
    prepare(_words, given) {
      const { workspaceId, user } = subject(given);
      return async (database) => {
        // A wrong workspace id must not look like a user without facts.
        if (!(await findWorkspace(database.system, workspaceId))) {
          throw new CommandError(`There is no workspace ${workspaceId}`);
        }
        const forgotten = await forgetUser(database.forWorkspace(workspaceId), workspaceId, user);
        return {
          json: { externalUserId: user.externalUserId, forgotten },
          text: `${forgotten} ${forgotten === 1 ? 'fact is' : 'facts are'} forgotten`,
        };
      };
    },
  },
};
