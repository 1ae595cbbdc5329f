import type { Updateable } from 'kysely';
import { fault } from '../../../core/errors.ts';
import { type AgentRow, lockAgent } from '../../../db/queries/agents/agents.ts';
import { insertVariables, removeVariables } from '../../../db/queries/agents/agentVariables.ts';
import { findVersion } from '../../../db/queries/agents/agentVersions.ts';
import { lockSubAgentLinks } from '../../../db/queries/agents/subAgents.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Agents } from '../../../generated/db.ts';
import { snapshotOfVersion } from '../../../runtime/resources/snapshot.ts';
import type { ConfigContext } from '../config/changeConfig.ts';
import { CONFIG_COLUMNS, CONFIG_FIELDS } from '../config/config.ts';
import { changeColumns, type DraftChange, storeDigest } from '../draft/draft.ts';
import { columnsOf } from '../variables/variableDefinition.ts';
import { restoreLinks } from './restoreLinks.ts';

function configColumns(config: AgentConfig): Updateable<Agents> {
  return Object.fromEntries(CONFIG_FIELDS.map((field) => [CONFIG_COLUMNS[field], config[field]]));
}

/**
 * Makes the draft what a published version was. What that version refers to and is deleted since is left out.
 * Throws AGENT_NOT_FOUND, VERSION_NOT_FOUND, NO_DRAFT_VERSION.
 */
export async function restoreDraft(
  { db, workspaceId, clock, runtime }: ConfigContext,
  agentId: string,
  versionNumber: number,
): Promise<AgentRow> {
  return inTransaction(db, async (trx) => {
    // Before the agent, as linking does.
    await lockSubAgentLinks(trx, workspaceId);
    const agent = await lockAgent(trx, workspaceId, agentId);
    if (!agent) throw fault('AGENT_NOT_FOUND');
    const version = await findVersion(trx, workspaceId, agent.id, versionNumber);
    if (!version) throw fault('VERSION_NOT_FOUND');
    if (agent.draft_version_number === null) throw fault('NO_DRAFT_VERSION');

    const snapshot = snapshotOfVersion(version);
    const draft: DraftChange = { trx, agent, workspaceId, now: clock.now() };
    const modelId = snapshot.aiModelPublicId;
    const model = modelId === null ? undefined : await runtime.findModel(trx, workspaceId, modelId);
    await removeVariables(trx, workspaceId, agent.id);
    await insertVariables(
      trx,
      snapshot.variables.map((variable) => ({
        workspace_id: workspaceId,
        id: variable.publicId,
        agent_id: agent.id,
        ...columnsOf(variable),
        created_at: variable.createdAt,
        updated_at: draft.now,
      })),
    );
    await restoreLinks(draft, snapshot, runtime);
    await changeColumns(draft, configColumns({ ...snapshot, aiModelPublicId: model ? modelId : null }));
    return (await storeDigest(draft, { published: true })).agent;
  });
}
