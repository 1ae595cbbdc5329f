import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** A part of requests that is the agent's own. */
export interface PromptPart {
  agentId: string;
  /** The Monday of the week of the turn, as a date. */
  week: string;
  digest: string;
  /** JSON; in UTF-8 when it is long. */
  content: string | Buffer;
}

/** Stores a part, unless it is there. */
export async function insertPromptPart(
  db: Kysely<DB>,
  workspaceId: string,
  { agentId, week, digest, content }: PromptPart,
): Promise<void> {
  await db
    .insertInto('prompt_parts')
    .values({ workspace_id: workspaceId, agent_id: agentId, week, digest, content: sql`${content}::json` })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'agent_id', 'week', 'digest']).doNothing())
    .execute();
}

/** The contents of parts, by their digests. Those that are not stored are absent. */
export async function selectPromptParts(
  db: Kysely<DB>,
  workspaceId: string,
  { agentId, week }: Pick<PromptPart, 'agentId' | 'week'>,
  digests: readonly string[],
): Promise<Map<string, unknown>> {
  if (digests.length === 0) return new Map();
  const rows = await db
    .selectFrom('prompt_parts')
    .select(['digest', 'content'])
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('week', '=', week)
    .where('digest', 'in', digests)
    .execute();
  return new Map(rows.map(({ digest, content }) => [digest, content]));
}

/** Removes the parts of weeks that ended before a time. */
export async function removeOldPromptParts(system: Kysely<DB>, before: Date): Promise<void> {
  await sql`delete from prompt_parts where week <= (${before}::timestamptz at time zone 'UTC')::date - 7`.execute(
    system,
  );
}
