import { type RawBuilder, sql } from 'kysely';

/** What a process knows of a workspace and of everything that its agents use: it holds while the revision is the same. */
export interface KnownWorkspace {
  /** A number that increases with every change of an agent, or of a resource that agents can be linked to. */
  revision: number;
  /** An IANA name. */
  timeZone: string;
  /** Whether operations are limited; the limit itself is read as one is taken. */
  isLimited: boolean;
}

/** SQL query: one row while what is known of the workspace holds. */
export function knownStill(
  workspaceId: string,
  { revision, timeZone, isLimited }: KnownWorkspace,
): RawBuilder<unknown> {
  return sql`select from workspaces w left join workspace_revisions r on r.workspace_id = w.id
      where w.id = ${workspaceId} and w.time_zone = ${timeZone} and (w.operation_limit is not null) = ${isLimited}
        and coalesce(r.revision, 0) = ${revision}`;
}
