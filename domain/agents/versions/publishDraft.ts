import { fault } from '../../../core/errors.ts';
import { type AgentRow, lockAgent } from '../../../db/queries/agents/agents.ts';
import { insertVersion } from '../../../db/queries/agents/agentVersions.ts';
import type { DraftParts } from '../../../db/queries/agents/draftParts.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Snapshot } from '../../../runtime/resources/snapshot.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { configOf } from '../config/config.ts';
import { type DraftContext, storeDigest } from '../draft/draft.ts';
import { storedLinks } from '../draft/storedLinks.ts';
import { storedVariable } from '../draft/storedVariable.ts';

/** What a publication needs: models, for their names. */
export type PublicationContext = DraftContext & { runtime: Pick<Runtime, 'findModel' | 'findGlobalModel'> };

/** The editable state as a version stores it. */
export function snapshotOfDraft(
  { agent, variables, links }: DraftParts & { agent: AgentRow },
  modelName: string | null,
  globalModelName: (id: string) => string | undefined,
): Snapshot {
  return {
    format: 2,
    ...configOf(agent),
    aiModelName: modelName,
    variables: variables.map(storedVariable),
    ...storedLinks(links, globalModelName),
  };
}

/** Freezes the draft as the next version and starts a new draft. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION, AI_MODEL_REQUIRED. */
export async function publishDraft(
  { db, workspaceId, clock, runtime }: PublicationContext,
  agentId: string,
  notes: string | null,
): Promise<AgentRow> {
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    const agent = await lockAgent(trx, workspaceId, agentId);
    if (!agent) throw fault('AGENT_NOT_FOUND');
    const versionNumber = agent.draft_version_number;
    if (versionNumber === null) throw fault('NO_DRAFT_VERSION');
    if (agent.ai_model_id === null) throw fault('AI_MODEL_REQUIRED');
    const draft = await storeDigest(
      { trx, workspaceId, agent, now },
      {
        status: 'active',
        draft_version_number: versionNumber + 1,
        published_version_number: versionNumber,
        published: true,
      },
    );
    const model = await runtime.findModel(trx, workspaceId, agent.ai_model_id);
    const snapshot = snapshotOfDraft(draft, model?.name ?? null, (id) => runtime.findGlobalModel(id)?.name);
    await insertVersion(trx, { workspaceId, agentId: agent.id, versionNumber, snapshot, notes, now });
    return draft.agent;
  });
}
