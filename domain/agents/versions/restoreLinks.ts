import { insertLinks, lockTargets, removeLinksOf } from '../../../db/queries/agents/agentLinks.ts';
import { findAbove } from '../../../db/queries/agents/subAgents.ts';
import type { Snapshot } from '../../../runtime/resources/snapshot.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { DraftChange } from '../draft/draft.ts';
import { linksOfVersion, type RestoredLink } from '../draft/storedLinks.ts';

/**
 * Replaces the links of the draft with those of a version. What is no longer possible is left out: links to targets that were
 * deleted since, the choice of a model that was deleted since, and sub-agents that have this agent below them by now
 * (the caller holds lockSubAgentLinks).
 */
export async function restoreLinks(
  { trx, workspaceId, agent, now }: DraftChange,
  snapshot: Snapshot,
  runtime: Pick<Runtime, 'findModel'>,
): Promise<void> {
  await removeLinksOf(trx, workspaceId, agent.id);
  /** Whether each model that links name exists. */
  const models = new Map<string, boolean>();
  for (const [kind, links] of Map.groupBy(linksOfVersion(snapshot), (link) => link.kind)) {
    const ids = links.map(({ target_id }) => target_id);
    const present = await lockTargets(trx, workspaceId, kind, ids);
    // Asked once for all: what is linked below leads to none of them.
    const above = kind === 'sub_agent' ? await findAbove(trx, workspaceId, agent.id, ids) : new Set<string>();
    const rows: RestoredLink[] = [];
    for (const link of links) {
      if (!present.has(link.target_id)) continue;
      if (above.has(link.target_id)) continue;
      const modelId = link.ai_model_id ?? null;
      if (modelId !== null && !models.has(modelId))
        models.set(modelId, (await runtime.findModel(trx, workspaceId, modelId)) !== undefined);
      rows.push({ ...link, ai_model_id: modelId !== null && models.get(modelId) ? modelId : null });
    }
    await insertLinks(
      trx,
      rows.map((link) => ({ workspace_id: workspaceId, agent_id: agent.id, ...link, created_at: now })),
    );
  }
}
