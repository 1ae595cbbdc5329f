import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';
import { inTransaction } from '../../transaction.ts';
import { likeContains } from '../shared/like.ts';

/** Facts that an agent stores about one end user. */
export const MAX_MEMORIES = 200;
/** Facts that `memoryFactsSql` reads at most. */
const MAX_PROMPT_FACTS = 50;

/** The agent that stores facts, and the end user whom they are about. */
export interface MemoryOwner {
  agentId: string;
  externalUserId: string;
}

/** A fact and its id. */
export interface MemoryFact {
  id: string;
  fact: string;
}

/** A fact as it is stored; `updated_at` is when it was last said. */
export interface MemoryRow extends MemoryFact {
  agent_id: string;
  created_at: Date;
  updated_at: Date;
}

function memories(db: Kysely<DB>, workspaceId: string, externalUserId: string) {
  return db
    .selectFrom('memories')
    .select(['id', 'agent_id', 'fact', 'created_at', 'updated_at'])
    .where('workspace_id', '=', workspaceId)
    .where('external_user_id', '=', externalUserId)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc');
}

/**
 * The facts that have all of these words somewhere, in any case, newest change first and at most `limit`; without words any fact.
 */
export function searchMemories(
  db: Kysely<DB>,
  workspaceId: string,
  owner: MemoryOwner,
  words: readonly string[],
  limit: number,
): Promise<MemoryRow[]> {
  let found = memories(db, workspaceId, owner.externalUserId).where('agent_id', '=', owner.agentId);
  for (const word of words) found = found.where('fact', 'ilike', likeContains(word));
  return found.limit(limit).execute();
}

/** The facts whose id ends with `idEnd` (lower case). A short end can match several. */
export function findMemories(
  db: Kysely<DB>,
  workspaceId: string,
  owner: MemoryOwner,
  idEnd: string,
): Promise<MemoryRow[]> {
  return memories(db, workspaceId, owner.externalUserId)
    .where('agent_id', '=', owner.agentId)
    .where(sql`right(id::text, ${idEnd.length}::int)`, '=', idEnd)
    .execute();
}

/** All facts about an end user, newest change first: of one agent when it is given, or else of all agents of the workspace. */
export function selectUserMemories(
  db: Kysely<DB>,
  workspaceId: string,
  { externalUserId, agentId }: Partial<MemoryOwner> & Pick<MemoryOwner, 'externalUserId'>,
): Promise<MemoryRow[]> {
  const known = memories(db, workspaceId, externalUserId);
  return (agentId === undefined ? known : known.where('agent_id', '=', agentId)).execute();
}

/**
 * Stores a fact of 1 to 1,000 characters without NUL. An equal fact that is stored already gets a new time and keeps its id: `isNew` is
 * false. When there are more than MAX_MEMORIES facts, the oldest ones are deleted, never this one.
 */
export function rememberFact(
  db: Kysely<DB>,
  workspaceId: string,
  owner: MemoryOwner,
  fact: string,
  now: Date,
): Promise<{ id: string; isNew: boolean }> {
  return inTransaction(db, async (trx) => {
    await lockMemories(trx, workspaceId, owner);
    const id = newId();
    const { id: kept } = await trx
      .insertInto('memories')
      .values({
        workspace_id: workspaceId,
        id,
        agent_id: owner.agentId,
        external_user_id: owner.externalUserId,
        fact,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .expression(sql`workspace_id, agent_id, external_user_id, md5(fact)`)
          .doUpdateSet({ updated_at: sql`greatest(memories.updated_at, excluded.updated_at)` }),
      )
      .returning('id')
      .executeTakeFirstOrThrow();
    if (kept === id) await removeOldest(trx, workspaceId, owner, id);
    return { id: kept, isNew: kept === id };
  });
}

/** Locks the facts of one end user until the transaction ends, so that two concurrent calls see each other's facts. */
async function lockMemories(trx: Transaction<DB>, workspaceId: string, owner: MemoryOwner): Promise<void> {
  const name = `memories of ${workspaceId} ${owner.agentId} ${owner.externalUserId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}

async function removeOldest(
  trx: Transaction<DB>,
  workspaceId: string,
  { agentId, externalUserId }: MemoryOwner,
  newest: string,
): Promise<void> {
  await sql`
    delete from memories where workspace_id = ${workspaceId} and id in (
      select id from memories
      where workspace_id = ${workspaceId} and agent_id = ${agentId} and external_user_id = ${externalUserId} and id <> ${newest}
      order by updated_at desc, id desc
      offset ${MAX_MEMORIES - 1})`.execute(trx);
}

/** Deletes a fact and returns it; undefined when this agent has no fact with this id about this user. */
export async function forgetMemory(
  db: Kysely<DB>,
  workspaceId: string,
  { agentId, externalUserId }: MemoryOwner,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .deleteFrom('memories')
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('external_user_id', '=', externalUserId)
    .where('id', '=', id)
    .returning('fact')
    .executeTakeFirst();
  return row?.fact;
}

/** Deletes all facts about an end user, of one agent when it is given, or else of all agents of the workspace. Returns their number. */
export function forgetUser(
  db: Kysely<DB>,
  workspaceId: string,
  { externalUserId, agentId }: Partial<MemoryOwner> & Pick<MemoryOwner, 'externalUserId'>,
): Promise<number> {
  return inTransaction(db, async (trx) => {
    const known = trx
      .deleteFrom('memories')
      .where('workspace_id', '=', workspaceId)
      .where('external_user_id', '=', externalUserId);
    const [deleted] = await (agentId === undefined ? known : known.where('agent_id', '=', agentId)).execute();
    return Number(deleted?.numDeletedRows ?? 0);
  });
}

/**
 * The newest 50 facts as JSON `[{id, fact}]`, newest change first and `[]` when there are none, as a subselect for the statement
 * that begins a turn. The expressions are values or columns by their table's name: a bare `agent_id` would be that of `memories`.
 */
export function memoryFactsSql(
  workspaceId: RawBuilder<unknown>,
  agentId: RawBuilder<unknown>,
  externalUserId: RawBuilder<unknown>,
): RawBuilder<MemoryFact[]> {
  return sql<MemoryFact[]>`(
    select coalesce(json_agg(json_build_object('id', known.id, 'fact', known.fact) order by known.updated_at desc, known.id desc), '[]')
    from (
      select memories.id, memories.fact, memories.updated_at from memories
      where memories.workspace_id = ${workspaceId} and memories.agent_id = ${agentId}
        and memories.external_user_id = ${externalUserId}
      order by memories.updated_at desc, memories.id desc limit ${sql.lit(MAX_PROMPT_FACTS)}
    ) known)`;
}

/** Deletes all facts that an agent has stored. */
export async function forgetAgent(trx: Transaction<DB>, workspaceId: string, agentId: string): Promise<void> {
  await trx.deleteFrom('memories').where('workspace_id', '=', workspaceId).where('agent_id', '=', agentId).execute();
}
