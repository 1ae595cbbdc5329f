import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '../../../core/errors.ts';
import { readSkill, type Skill, type SkillFile } from '../../../runtime/skills/readSkill.ts';

/** A folder for the uploads of a test file. */
export interface Folder {
  /** Stores bytes there as an upload. Returns the path. */
  put(content: string | Buffer): Promise<string>;
  remove(): Promise<void>;
}

export async function makeFolder(): Promise<Folder> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-skills-'));
  return {
    async put(content) {
      const path = join(folder, randomUUID());
      await writeFile(path, content);
      return path;
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

/** The error for a refused upload. */
export async function faultOf(path: string, name = 'skill.zip'): Promise<ApiError> {
  try {
    await readSkill({ path, name }, 'w');
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the skill was accepted');
}

/** Every file of a skill. */
export async function filesOf(skill: Skill): Promise<SkillFile[]> {
  const files: SkillFile[] = [];
  for await (const file of skill.files()) files.push(file);
  return files;
}
