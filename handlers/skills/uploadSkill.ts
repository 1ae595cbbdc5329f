import { newId } from '../../core/ids.ts';
import { findSkill, insertSkill, insertSkillFile, type SkillRow } from '../../db/queries/tools/skills.ts';
import { inTransaction } from '../../db/transaction.ts';
import { takeRoom } from '../../domain/workspaces/room.ts';
import type { Skill } from '../../runtime/skills/readSkill.ts';
import type { Context, Handler } from '../handler.ts';
import { skillBody } from './skillBody.ts';

export const uploadSkill: Handler<'uploadSkill'> = {
  async prepare({ upload, workspaceId }) {
    // Loaded at the first skill: an idle service needs no YAML and no archives.
    const { readSkill } = await import('../../runtime/skills/readSkill.ts');
    const skill = await readSkill(upload.file, workspaceId);
    return async (context) => context.reply(201, skillBody(await storeSkill(context, skill)));
  },
};

async function storeSkill(
  { db, workspaceId, clock }: Pick<Context<'uploadSkill'>, 'db' | 'workspaceId' | 'clock'>,
  { frontMatter, files, sizeBytes }: Skill,
): Promise<SkillRow> {
  const { allowedTools, ...described } = frontMatter;
  const now = clock.now();
  const row = await inTransaction(db, async (trx) => {
    const id = newId();
    await takeRoom(trx, workspaceId, 'skill', { bytes: sizeBytes, now });
    // A name that is taken violates skills_name_key, which is SKILL_NAME_TAKEN (db/errors.ts); so before the files.
    await insertSkill(trx, {
      workspace_id: workspaceId,
      id,
      ...described,
      allowed_tools: allowedTools,
      created_at: now,
      updated_at: now,
    });
    // Unpacking again costs less than holding everything in memory, and waits for nothing but the local disk.
    for await (const { path, sizeBytes, binary, content } of files()) {
      await insertSkillFile(trx, {
        workspace_id: workspaceId,
        skill_id: id,
        path,
        size_bytes: sizeBytes,
        binary,
        content,
      });
    }
    return findSkill(trx, workspaceId, id);
  });
  if (!row) throw new Error('The skill that was just stored is not there');
  return row;
}
