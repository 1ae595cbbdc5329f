import { type RawBuilder, sql } from 'kysely';
import { notDeletedByKey } from '../shared/byKey.ts';

/** What a process knows of a workspace and of everything that its agents use: it holds while the revision is the same. */
export interface KnownWorkspace {
  /** A number that increases with every change of an agent, or of a resource that agents can be linked to. */
  revision: number;
  /** An IANA name. */
  timeZone: string;
  /** Whether operations are limited; the limit itself is read as one is taken. */
  isLimited: boolean;
  /** Who decides on calls that wait, as the agent or else the workspace says; null = as the channel of the conversation says. */
  approvalsBy: 'user' | 'operator' | null;
  /** Whether conversations may belong to clients. Where it is out of date, a conversation of a client is not begun from memory. */
  hasClients: boolean;
  /** Whether budgets are set. Setting one raises the revision. */
  hasBudgets: boolean;
}

/** The version of an agent that a turn was made from. */
interface KnownVersion {
  workspaceId: string;
  agentId: string;
  versionNumber: number;
}

/** SQL query: one row while what is known of the workspace holds, and the agent answers with this version. */
export function knownStill(
  { workspaceId, agentId, versionNumber }: KnownVersion,
  { revision, timeZone, isLimited, approvalsBy }: KnownWorkspace,
): RawBuilder<unknown> {
  return sql`select from agents a join workspaces w on w.id = a.workspace_id
      left join workspace_revisions r on r.workspace_id = a.workspace_id
      where a.workspace_id = ${workspaceId} and a.id = ${agentId} and a.status = 'active' and ${notDeletedByKey('a.deleted_at')}
        and a.published_version_number = ${versionNumber} and w.time_zone = ${timeZone}
        and coalesce(a.approvals_by, w.approvals_by) is not distinct from ${approvalsBy}
        and (w.operation_limit is not null) = ${isLimited} and coalesce(r.revision, 0) = ${revision}`;
}
