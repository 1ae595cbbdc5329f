import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { DB, SkillFiles, Skills } from '../../../generated/db.ts';
import { notLinked } from '../agents/agentLinks.ts';
import { likeContains } from '../shared/like.ts';
import { countRows, newestFirst, type Page, type PageOf } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { revising } from '../workspaces/revision.ts';

/** A file of a skill without its content. */
export type SkillFileRow = Pick<Selectable<SkillFiles>, 'path' | 'size_bytes' | 'binary'>;

/** A skill with its files, by path. */
export type SkillRow = Selectable<Skills> & { files: SkillFileRow[] };

/** The files of the row of `skills` with the alias `s`. Sorted by bytes, so that the order is the same on every server. */
const filesOfSkill = (workspaceId: string) => sql<SkillFileRow[]>`(
  select coalesce(json_agg(json_build_object('path', f.path, 'size_bytes', f.size_bytes, 'binary', f."binary")
                           order by f.path collate "C"), '[]')
  from skill_files f where f.workspace_id = ${workspaceId} and f.skill_id = s.id)`;

/** The skill, if it exists in the workspace and is not deleted. */
export function findSkill(db: Kysely<DB>, workspaceId: string, id: string): Promise<SkillRow | undefined> {
  return db
    .selectFrom('skills as s')
    .selectAll()
    .select(filesOfSkill(workspaceId).as('files'))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** A page of skills, newest first, and the total number. One statement reads the page with all its files. */
export async function selectSkills(
  db: Kysely<DB>,
  workspaceId: string,
  filter: { search: string | undefined },
  page: Page,
): Promise<PageOf<SkillRow>> {
  let matching = db.selectFrom('skills').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (filter.search !== undefined) matching = matching.where('name', 'ilike', likeContains(filter.search));
  const onPage = matching.selectAll().$call(newestFirst).limit(page.limit).offset(page.offset);
  // The files are joined outside the page's query, so that only those of the page are read.
  const rows = await db
    .selectFrom(onPage.as('s'))
    .selectAll()
    .select(filesOfSkill(workspaceId).as('files'))
    .$call(newestFirst)
    .execute();
  return { rows, total: await countRows(matching) };
}

/** The skills of the workspace that are not linked to the agent, newest first. */
export function listLinkableSkills(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
): Promise<Pick<Selectable<Skills>, 'id' | 'name' | 'description'>[]> {
  return db
    .selectFrom('skills')
    .select(['id', 'name', 'description'])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where(notLinked(workspaceId, agentId, 'skill', 'skills.id'))
    .$call(newestFirst)
    .execute();
}

/** Stores a new skill without files. Fails on `skills_name_key` when the name is taken. */
export async function insertSkill(
  trx: Transaction<DB>,
  { metadata, ...skill }: Omit<Insertable<Skills>, 'metadata'> & { metadata: Record<string, unknown> | null },
): Promise<void> {
  const stored = metadata === null ? null : JSON.stringify(metadata);
  await revising(trx, skill.workspace_id, (db) =>
    db
      .insertInto('skills')
      .values({ ...skill, metadata: stored })
      .execute(),
  );
}

/** Stores a file of a skill. */
export async function insertSkillFile(trx: Transaction<DB>, file: Insertable<SkillFiles>): Promise<void> {
  await trx.insertInto('skill_files').values(file).execute();
}

/** Changes columns of a skill. Fails on `skills_name_key` when the name is taken. Returns whether there is such a skill. */
export async function updateSkillRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<Skills>,
): Promise<boolean> {
  return revising(db, workspaceId, async (trx) => {
    const result = await trx
      .updateTable('skills')
      .set(change)
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  });
}

/** Marks the skill as deleted and erases its files. Returns whether there was one. */
export async function softDeleteSkill(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  const deleted = await revising(trx, workspaceId, (db) => softDelete(db, 'skills', { workspaceId, id }, now));
  if (!deleted) return false;
  await trx.deleteFrom('skill_files').where('workspace_id', '=', workspaceId).where('skill_id', '=', id).execute();
  return true;
}

/** The files of a skill by path, without their contents; none when the skill is deleted. */
export function selectSkillFiles(db: Kysely<DB>, workspaceId: string, skillId: string): Promise<SkillFileRow[]> {
  return db
    .selectFrom('skill_files')
    .select(['path', 'size_bytes', 'binary'])
    .where('workspace_id', '=', workspaceId)
    .where('skill_id', '=', skillId)
    .orderBy(sql`path collate "C"`)
    .execute();
}

/** Part of a file of a skill. `content` is empty for a binary file. */
export interface SkillTextRow {
  size_bytes: number;
  binary: boolean;
  content: Buffer;
}

/**
 * At most `bytes` bytes of a skill's file, starting at the byte `from`. Files have up to 20 MiB, so they are read in parts.
 * Undefined when there is no file at this path, or the skill is deleted.
 */
export async function findSkillText(
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
