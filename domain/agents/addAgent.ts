import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type AgentRow, insertAgent, reserveAgentPlace } from '../../db/queries/agents/agents.ts';
import { inTransaction } from '../../db/transaction.ts';
import { distinctCategories } from './config/changeConfig.ts';
import type { DraftContext } from './draft/draft.ts';

/** What a new agent is called; absent and null = empty. */
export interface NewAgent {
  name: string;
  description?: string | null;
  avatarUrl?: string | null;
  categories?: string[] | null;
}

/**
 * Creates an agent with an empty draft. Its digest is written with the first change of the draft or with its publication: until
 * then nothing is published that it could be compared with. Throws AGENT_LIMIT_REACHED, and AGENT_NAME_TAKEN by agents_name_key
 * (db/errors.ts).
 */
export async function addAgent(
  { db, workspaceId, clock }: DraftContext,
  { name, description = null, avatarUrl = null, categories }: NewAgent,
): Promise<AgentRow> {
  const now = clock.now();
  const row = {
    workspace_id: workspaceId,
    id: newId(),
    name,
    description,
    avatar_url: avatarUrl,
    categories: distinctCategories(categories),
    created_at: now,
    updated_at: now,
  };
  return inTransaction(db, async (trx) => {
    if (!(await reserveAgentPlace(trx, workspaceId))) throw fault('AGENT_LIMIT_REACHED');
    return insertAgent(trx, row);
  });
}
