import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import { memoryFactsSql } from '../conversations/memories.ts';
import { pausedAt } from '../conversations/pause.ts';
import { notDeletedByKey } from '../shared/byKey.ts';

/** The rows that a turn depends on: the agent, its workspace, and the conversation if one is continued. */
export interface TurnSubject {
  status: string;
  published_version_number: number | null;
  operation_limit: number | null;
  time_zone: string;
  /** The setting of the agent, or else of the workspace. */
  approvals_by: 'user' | 'operator' | null;
  /** A number that increases with every change of a resource that agents can be linked to. */
  revision: number;
  /** Whether the workspace has clients with an account, and budgets. */
  has_clients: boolean;
  has_budgets: boolean;
  conversation_id: string | null;
  /** The client that pays for the conversation. */
  client_id: string | null;
  external_user_id: string | null;
  channel: ConversationRow['channel'] | null;
  is_paused: boolean | null;
  is_ended: boolean | null;
  follow_ups_sent: number | null;
  connection_id: string | null;
  metadata: Record<string, unknown> | null;
  /** Facts that the agent knows of the end user. */
  memories: { id: string; fact: string }[];
  /** The agent's active slash command of the given name. */
  command: { id: string; prompt: string } | null;
}

/** The turn whose subject is read. */
export interface TurnSubjectQuery {
  agentId: string;
  conversationId: string | null;
  /** Of a new conversation. */
  externalUserId: string | null;
  /** The name after the slash, when the message begins with one. */
  command: string | null;
  /** A pause that has passed by then is none. */
  now: Date;
}

/** The subject of a turn, in one round trip; undefined when the workspace has no such agent. */
export async function findTurnSubject(
  db: Kysely<DB>,
  workspaceId: string,
  { agentId, conversationId, externalUserId, command, now }: TurnSubjectQuery,
): Promise<TurnSubject | undefined> {
  const user = sql<string>`coalesce(c.external_user_id, ${externalUserId}::text)`;
  const { rows } = await sql<TurnSubject>`
    select a.status, a.published_version_number, w.operation_limit, w.time_zone, coalesce(a.approvals_by, w.approvals_by) as approvals_by, coalesce(r.revision, 0) as revision,
      exists (select from credit_accounts where workspace_id = ${workspaceId}) as has_clients,
      exists (select from budgets where workspace_id = ${workspaceId}) as has_budgets,
      c.id as conversation_id, c.client_id, c.external_user_id, c.channel, c.connection_id, ${pausedAt(now, 'c')} as is_paused, c.is_ended, c.follow_ups_sent, c.metadata,
      ${memoryFactsSql(sql`${workspaceId}`, sql.ref('a.id'), user)} as memories,
      (select json_build_object('id', k.id, 'prompt', k.prompt) from agent_commands k
       where k.workspace_id = ${workspaceId} and k.agent_id = a.id and k.command = ${command}::text and k.status = 'active'
         and k.deleted_at is null) as command
    from agents a
    join workspaces w on w.id = a.workspace_id
    left join workspace_revisions r on r.workspace_id = a.workspace_id
    left join conversations c on c.workspace_id = a.workspace_id and c.id = ${conversationId}::uuid and c.agent_id = a.id
      and ${notDeletedByKey('c.deleted_at')}
    where a.workspace_id = ${workspaceId} and a.id = ${agentId} and ${notDeletedByKey('a.deleted_at')}`.execute(db);
  return rows[0];
}
