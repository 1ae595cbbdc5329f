import { type ApprovalRow, decideAsOperator, selectPendingApprovals } from '../../db/queries/turns/approvals.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Command, CommandError, optionalUuid, uuid } from './command.ts';
import { printable } from './printable.ts';

function shown(row: ApprovalRow) {
  return {
    approvalPublicId: row.id,
    workspacePublicId: row.workspace_id,
    conversationPublicId: row.conversation_id,
    turnPublicId: row.turn_id,
    agentPublicId: row.agent_id,
    toolName: row.tool_name,
    input: row.input,
    status: row.status,
    requestedAt: row.requested_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
  };
}

/** An approval for people, with the whole input: nobody should approve a call without seeing it. */
function paragraph(row: ApprovalRow): string {
  return [
    `approval     ${row.id}`,
    `workspace    ${row.workspace_id}`,
    `conversation ${row.conversation_id}`,
    `requested at ${row.requested_at.toISOString()}`,
    `tool         ${printable(row.tool_name)}`,
    `input        ${printable(JSON.stringify(row.input))}`,
  ].join('\n');
}

/** The command that decides an approval. The first decision counts, whoever makes it. */
function deciding(decision: 'approved' | 'rejected'): Command {
  return {
    usage: 'APPROVALID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'APPROVALID');
      return async ({ system }) => {
        const row = await inTransaction(system, (trx) => decideAsOperator(trx, id, decision, new Date()));
        if (!row) throw new CommandError(`There is no approval ${id}`);
        if (!row.decidedNow) {
          const how = `decided by ${row.decided_by} at ${row.decided_at?.toISOString()}`;
          throw new CommandError(`Approval ${id} is already ${row.status}, ${how}`);
        }
        return { json: shown(row), text: `approval ${id} is ${decision}` };
      };
    },
  };
}

/** Tool calls of all workspaces that wait for approval. A running service continues a decided conversation at once, otherwise the next service to start does. */
export const approvalCommands: Record<string, Command> = {
  list: {
    usage: '[--workspace ID]',
    words: 0,
    options: { workspace: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = optionalUuid(options.workspace, '--workspace');
      return async ({ system }) => {
        const rows = await selectPendingApprovals(system, workspaceId);
        return { json: rows.map(shown), text: rows.map(paragraph).join('\n\n') || 'none' };
      };
    },
  },
  approve: deciding('approved'),
  reject: deciding('rejected'),
};
