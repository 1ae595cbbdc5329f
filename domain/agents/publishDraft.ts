import { fault } from '../../core/errors.ts';
import { type AgentRow, findAgent, lockAgent } from '../../db/queries/agents/agents.ts';
import { insertVersion } from '../../db/queries/agents/agentVersions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type DraftContext, sealDraft } from './draft.ts';

/** Freezes the draft as the next version and starts a new draft. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION, AI_MODEL_REQUIRED. */
export async function publishDraft(
  { db, workspaceId, clock, runtime }: DraftContext,
  agentId: string,
  notes: string | null,
): Promise<AgentRow> {
  const now = clock.now();
  const agent = await inTransaction(db, async (trx) => {
    const draft = await lockAgent(trx, workspaceId, agentId);
    if (!draft) throw fault('AGENT_NOT_FOUND');
    const versionNumber = draft.draft_version_number;
    if (versionNumber === null) throw fault('NO_DRAFT_VERSION');
    if (draft.ai_model_id === null) throw fault('AI_MODEL_REQUIRED');
    const snapshot = await sealDraft({ trx, workspaceId, now }, draft.id, runtime, {
      status: 'active',
      draft_version_number: versionNumber + 1,
      published_version_number: versionNumber,
      asPublished: true,
    });
    await insertVersion(trx, { workspaceId, agentId: draft.id, versionNumber, snapshot, notes, now });
    return findAgent(trx, workspaceId, draft.id);
  });
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return agent;
}
