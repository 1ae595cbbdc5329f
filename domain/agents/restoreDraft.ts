import type { Updateable } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type AgentRow, findAgent, lockAgent } from '../../db/queries/agents/agents.ts';
import { insertVariables, removeVariables } from '../../db/queries/agents/agentVariables.ts';
import { findVersion } from '../../db/queries/agents/agentVersions.ts';
import { lockSubAgentLinks } from '../../db/queries/agents/subAgents.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Agents } from '../../generated/db.ts';
import { snapshotOfVersion } from '../../runtime/resources/snapshot.ts';
import { type AgentConfig, CONFIG_COLUMNS, CONFIG_FIELDS } from './config.ts';
import { type DraftContext, sealDraft } from './draft.ts';
import { restoreLinks } from './restoreLinks.ts';
import { columnsOf } from './variableDefinition.ts';

function configColumns(config: AgentConfig): Updateable<Agents> {
  return Object.fromEntries(CONFIG_FIELDS.map((field) => [CONFIG_COLUMNS[field], config[field]]));
}

/**
 * Makes the draft what a published version was. What that version refers to and is deleted since is left out.
 * Throws AGENT_NOT_FOUND, VERSION_NOT_FOUND, NO_DRAFT_VERSION.
 */
export async function restoreDraft(
  { db, workspaceId, clock, runtime }: DraftContext,
  agentId: string,
  versionNumber: number,
): Promise<AgentRow> {
  const agent = await inTransaction(db, async (trx) => {
    // Before the agent, as linking does.
    await lockSubAgentLinks(trx, workspaceId);
    const draft = await lockAgent(trx, workspaceId, agentId);
    if (!draft) throw fault('AGENT_NOT_FOUND');
    const version = await findVersion(trx, workspaceId, draft.id, versionNumber);
    if (!version) throw fault('VERSION_NOT_FOUND');
    if (draft.draft_version_number === null) throw fault('NO_DRAFT_VERSION');

    const snapshot = snapshotOfVersion(version);
    const now = clock.now();
    const modelId = snapshot.aiModelPublicId;
    const model = modelId === null ? undefined : await runtime.findModel(trx, workspaceId, modelId);
    await removeVariables(trx, workspaceId, draft.id);
    await insertVariables(
      trx,
      Object.values(snapshot.variablesSnapshot).map((variable) => ({
        workspace_id: workspaceId,
        id: variable.publicId,
        agent_id: draft.id,
        ...columnsOf(variable),
        created_at: variable.createdAt,
        updated_at: now,
      })),
    );
    await restoreLinks({ trx, workspaceId, agent: draft, now }, snapshot, runtime);
    const columns = configColumns({ ...snapshot, aiModelPublicId: model ? modelId : null });
    await sealDraft({ trx, workspaceId, now }, draft.id, runtime, { ...columns, asPublished: true });
    return findAgent(trx, workspaceId, draft.id);
  });
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return agent;
}
