import type { Selectable } from 'kysely';
import { lockAgent, updateAgentRow } from '../../db/queries/agents/agents.ts';
import { inTransaction } from '../../db/transaction.ts';
import { examineAgent, type FixedPrompt } from '../../domain/agents/check/checkAgent.ts';
import type { Agents } from '../../generated/db.ts';
import { adminRuntime } from './adminRuntime.ts';
import { approvalsBy, type Command, CommandError, optionalUuid, refusing, table, UsageError, uuid } from './command.ts';
import { findNamedAgent } from './namedAgent.ts';
import { printable } from './printable.ts';

type Agent = Pick<Selectable<Agents>, 'status' | 'published_version_number' | 'draft_version_number'>;
type Change = Pick<Agent, 'status' | 'draft_version_number'>;

/** A command that changes an agent's status, which the API does not offer. `change` throws when the current state forbids it. */
function statusCommand(change: (agent: Agent) => Change): Command {
  return {
    usage: '--workspace ID AGENTID',
    words: 1,
    options: { workspace: { type: 'string' } },
    prepare([word], options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const id = uuid(word, 'AGENTID');
      return async (database) => {
        const row = await inTransaction(database.forWorkspace(workspaceId), async (transaction) => {
          const agent = await lockAgent(transaction, workspaceId, id);
          if (!agent) throw new CommandError(`Workspace ${workspaceId} has no agent ${id}`);
          const changed = change(agent);
          await updateAgentRow(transaction, workspaceId, id, { ...changed, updated_at: new Date() });
          return { ...agent, ...changed };
        });
        return {
          json: {
            agentPublicId: row.id,
            status: row.status,
            draftVersionNumber: row.draft_version_number,
            publishedVersionNumber: row.published_version_number,
          },
          text: `agent ${row.id} is ${row.status}`,
        };
      };
    },
  };
}

function published(agent: Agent): Agent {
  if (agent.status === 'archived') throw new CommandError('The agent is archived: unarchive it first');
  if (agent.published_version_number === null) throw new CommandError('The agent was never published');
  return agent;
}

/** Settings of an agent that the API does not offer. They hold at once, for its conversations under way too. */
const set: Command = {
  usage: '--workspace ID AGENTID --approvals-by user|operator|default',
  words: 1,
  options: { workspace: { type: 'string' }, 'approvals-by': { type: 'string' } },
  prepare([word], options) {
    const workspaceId = uuid(options.workspace, '--workspace');
    const id = uuid(word, 'AGENTID');
    const by = approvalsBy(options['approvals-by']);
    if (by === undefined) throw new UsageError('Give --approvals-by');
    return async (database) => {
      const change = { approvals_by: by, updated_at: new Date() };
      const row = await updateAgentRow(database.forWorkspace(workspaceId), workspaceId, id, change);
      if (!row) throw new CommandError(`Workspace ${workspaceId} has no agent ${id}`);
      const shown = row.approvals_by ?? 'default';
      return {
        json: { agentPublicId: id, approvalsBy: shown },
        text: `calls of agent ${id} that need an approval are decided by: ${shown}`,
      };
    };
  },
};

/** What is silently wrong with an agent's draft, and what the fixed part of each request to its model takes. */
const check: Command = {
  usage: 'AGENTID [--workspace ID]   (warnings of the draft; tokens of its prompt and tools)',
  words: 1,
  options: { workspace: { type: 'string' } },
  prepare([word], options) {
    const given = optionalUuid(options.workspace, '--workspace');
    const id = uuid(word, 'AGENTID');
    return async (database, env) => {
      const { workspaceId, db } = await findNamedAgent(database, id, given);
      const runtime = adminRuntime(database, env);
      try {
        const context = { db, workspaceId, runtime, clock: runtime.clock };
        const { warnings, fixed } = await refusing(examineAgent(context, id, { countAlways: true }));
        const rows = warnings.map(({ code, subject, message }) => [code, printable(subject ?? ''), printable(message)]);
        return {
          json: { agentPublicId: id, warnings, fixed: fixed ?? null },
          text: [table(['WARNING', 'ABOUT', 'WHAT'], rows), ...(fixed ? [fixedText(fixed)] : [])].join('\n\n'),
        };
      } finally {
        await runtime.close();
      }
    };
  },
};

function fixedText({ promptTokens, toolTokens, tools, contextWindow }: FixedPrompt): string {
  const all = promptTokens + toolTokens;
  const share =
    contextWindow === null ? '' : `, ${((100 * all) / contextWindow).toFixed(1)} % of the window of ${contextWindow}`;
  return `each request: ${all} tokens${share} (prompt ${promptTokens}, ${tools} tools ${toolTokens})`;
}

/** Changes of an agent's status and settings. */
export const agentCommands: Record<string, Command> = {
  check,
  set,
  archive: statusCommand(() => ({ status: 'archived', draft_version_number: null })),
  unarchive: statusCommand((agent) => {
    if (agent.status !== 'archived') throw new CommandError('The agent is not archived');
    return {
      status: agent.published_version_number === null ? 'draft' : 'active',
      draft_version_number: (agent.published_version_number ?? 0) + 1,
    };
  }),
  deactivate: statusCommand((agent) => ({
    status: 'inactive',
    draft_version_number: published(agent).draft_version_number,
  })),
  activate: statusCommand((agent) => ({
    status: 'active',
    draft_version_number: published(agent).draft_version_number,
  })),
};
