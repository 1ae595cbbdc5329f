import type { SkillRow } from '../../db/queries/tools/skills.ts';
import type { components } from '../../generated/api.ts';

type Skill = components['schemas']['Skill'];

/** A skill as the contract shows it. */
export function skillBody(row: SkillRow): Skill {
  return {
    publicId: row.id,
    name: row.name,
    description: row.description,
    license: row.license,
    compatibility: row.compatibility,
    allowedTools: row.allowed_tools,
    metadata: row.metadata,
    files: row.files.map(({ path, size_bytes, binary }) => ({ path, sizeBytes: size_bytes, binary })),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
