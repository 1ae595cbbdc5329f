import { forgetUser, selectUserMemories } from '../../db/queries/conversations/memories.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { type Command, CommandError, type Options, table, text, uuid } from './command.ts';

const options = { workspace: { type: 'string' }, user: { type: 'string' }, agent: { type: 'string' } } as const;
const usage = '--workspace ID --user EXTERNALUSERID [--agent AGENTID]';

/** Whose facts are meant: those of all agents, unless one is given. */
function subject(given: Options) {
  return {
    workspaceId: uuid(given.workspace, '--workspace'),
    user: {
      externalUserId: text(given.user, '--user', 255),
      ...(given.agent === undefined ? {} : { agentId: uuid(given.agent, '--agent') }),
    },
  };
}

/** What agents with long-term memory know of an end user, for requests that data protection law gives people a right to. */
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
        // A wrong id must not look like a person of whom nothing is known.
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
