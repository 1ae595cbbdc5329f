import type { AgentRow } from '../../db/queries/agents/agents.ts';
import { configOf, hasUnpublishedChanges } from '../../domain/agents/config/config.ts';
import type { components } from '../../generated/api.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Agent = components['schemas']['Agent'];

/** The agent as the contract shows it. */
export function agentBody(row: AgentRow, runtime: Runtime): Agent {
  const globalModel = row.ai_model_id === null ? undefined : runtime.findGlobalModel(row.ai_model_id);
  return {
    publicId: row.id,
    name: row.name,
    description: row.description,
    avatarUrl: row.avatar_url,
    categories: row.categories,
    status: row.status,
    draftVersionNumber: row.draft_version_number,
    publishedVersionNumber: row.published_version_number,
    hasUnpublishedChanges: hasUnpublishedChanges(row),
    hasExternalChannel: row.has_channel,
    aiModelName: row.custom_model_name ?? globalModel?.name ?? null,
    ...configOf(row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
