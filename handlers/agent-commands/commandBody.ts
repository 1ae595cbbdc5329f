import type { CommandRow } from '../../db/queries/agents/agentCommands.ts';
import type { components } from '../../generated/api.ts';

/** The command as the contract shows it. */
export function commandBody(row: CommandRow): components['schemas']['AgentCommand'] {
  return {
    publicId: row.id,
    name: row.name,
    command: row.command,
    description: row.description,
    prompt: row.prompt,
    status: row.status,
    usageCount: row.usage_count,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
