import type { Selectable, Transaction, Updateable } from 'kysely';
import { fault } from '../../../core/errors.ts';
import { type AgentRow, lockAgent, updateAgentRow } from '../../../db/queries/agents/agents.ts';
import { type DraftParts, findDraftParts } from '../../../db/queries/agents/draftParts.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Agents, DB } from '../../../generated/db.ts';
import type { WorkspaceContext } from '../../context.ts';
import { configOf } from '../config/config.ts';
import { digestOf } from './digest.ts';

/** A change of the editable state under way: the agent is locked, and everything is one transaction. */
export interface DraftChange {
  trx: Transaction<DB>;
  /** The agent as it is now; `changeColumns` keeps it so. */
  agent: Selectable<Agents>;
  workspaceId: string;
  now: Date;
}

/** What a draft change needs from its caller. */
export type DraftContext = Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>;

/** A change of the editable state after it was made. */
export interface ChangedDraft<Result> extends DraftParts {
  /** What the change returned. */
  result: Result;
  agent: AgentRow;
}

/** Changes columns of the agent whose draft is being changed. */
export async function changeColumns(draft: DraftChange, columns: Updateable<Agents>): Promise<void> {
  const agent = await updateAgentRow(draft.trx, draft.workspaceId, draft.agent.id, columns);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  draft.agent = agent;
}

/**
 * Stores the digest of the editable state as it is now, with other columns that change along with it, and returns the agent and
 * its parts. `published`: the state is also the one that counts as published from now on.
 */
export async function storeDigest(
  { trx, workspaceId, agent, now }: DraftChange,
  { published = false, ...columns }: Updateable<Agents> & { published?: boolean } = {},
): Promise<DraftParts & { agent: AgentRow }> {
  const parts = await findDraftParts(trx, workspaceId, agent.id);
  const digest = await digestOf(configOf(agent), parts);
  const digests = published ? { draft_digest: digest, published_digest: digest } : { draft_digest: digest };
  const stored = await updateAgentRow(trx, workspaceId, agent.id, { ...columns, ...digests, updated_at: now });
  if (!stored) throw fault('AGENT_NOT_FOUND');
  return { ...parts, agent: stored };
}

/**
 * Runs one change of an agent's editable state in a transaction that holds the agent, then brings the digest up to
 * date. `change` may run again when another transaction was in its way, so it must have no other effects. `before` runs ahead of
 * holding the agent, for locks that come first. Throws AGENT_NOT_FOUND.
 */
export async function changeDraft<Result>(
  { db, workspaceId, clock }: DraftContext,
  agentId: string,
  change: (draft: DraftChange) => Promise<Result>,
  before?: (trx: Transaction<DB>) => Promise<void>,
): Promise<ChangedDraft<Result>> {
  return inTransaction(db, async (trx) => {
    await before?.(trx);
    const agent = await lockAgent(trx, workspaceId, agentId);
    if (!agent) throw fault('AGENT_NOT_FOUND');
    const draft: DraftChange = { trx, agent, workspaceId, now: clock.now() };
    const result = await change(draft);
    return { result, ...(await storeDigest(draft)) };
  });
}
