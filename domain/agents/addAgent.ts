import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type AgentRow, findAgent, insertAgent, reserveAgentPlace } from '../../db/queries/agents/agents.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import { type DraftContext, sealDraft } from './draft.ts';

/** Creates an agent with an empty draft. Throws AGENT_LIMIT_REACHED, and AGENT_NAME_TAKEN by agents_name_key (db/errors.ts). */
export async function addAgent(
  { db, workspaceId, clock, runtime }: DraftContext,
  body: components['schemas']['AgentCreate'],
): Promise<AgentRow> {
  const id = newId();
  const now = clock.now();
  const agent = await inTransaction(db, async (trx) => {
    if (!(await reserveAgentPlace(trx, workspaceId))) throw fault('AGENT_LIMIT_REACHED');
    await insertAgent(trx, {
      workspace_id: workspaceId,
      id,
      name: body.name,
      description: body.description ?? null,
      avatar_url: body.avatarUrl ?? null,
      categories: body.categories ?? [],
      created_at: now,
      updated_at: now,
    });
    await sealDraft({ trx, workspaceId, now }, id, runtime);
    return findAgent(trx, workspaceId, id);
  });
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return agent;
}
