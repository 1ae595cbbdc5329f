import { type Kysely, sql } from 'kysely';
import type { DB } from '../../generated/db.ts';

/** A part of a text file of a skill; of a binary one there is no content. */
export interface SkillTextRow {
  size_bytes: number;
  binary: boolean;
  content: Buffer;
}

/**
 * At most `bytes` bytes of a file of a skill, from the byte `from` on: files have up to 20 MiB, of which nobody needs all at
 * once. Undefined when there is none at this path, or the skill is deleted.
 */
export async function readSkillText(
  db: Kysely<DB>,
  workspaceId: string,
  skillId: string,
  path: string,
  { from, bytes }: { from: number; bytes: number },
): Promise<SkillTextRow | undefined> {
  return await db
    .selectFrom('skill_files')
    .select(['size_bytes', 'binary'])
    .select(
      sql<Buffer>`case when "binary" then ''::bytea
        else substring(content from ${from + 1}::int for ${bytes}::int) end`.as('content'),
    )
    .where('workspace_id', '=', workspaceId)
    .where('skill_id', '=', skillId)
    .where('path', '=', path)
    .executeTakeFirst();
}
