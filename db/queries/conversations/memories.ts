import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';
import { inTransaction } from '../../transaction.ts';
import { likeContains } from '../shared/like.ts';

/** Facts that an agent keeps of one end user. */
export const MAX_MEMORIES = 200;
/** Facts that `memoryFactsSql` reads. */
const MAX_PROMPT_FACTS = 50;

/** Whose facts: what an agent knows of one end user. */
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

/** The facts whose id ends so, of which there are more than one where the end is short. `idEnd`: lower case. */
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

/** All that is known of an end user, newest change first: by all agents of the workspace, unless one is given. */
export function selectUserMemories(
  db: Kysely<DB>,
  workspaceId: string,
  { externalUserId, agentId }: Partial<MemoryOwner> & Pick<MemoryOwner, 'externalUserId'>,
): Promise<MemoryRow[]> {
  const known = memories(db, workspaceId, externalUserId);
  return (agentId === undefined ? known : known.where('agent_id', '=', agentId)).execute();
}

/**
 * Keeps a fact of 1 to 1,000 characters without NUL, as it is. One that is known already, letter by letter, counts as said now
 * and keeps its id: `isNew` is false. Of more than MAX_MEMORIES facts those go that were said longest ago, never this one.
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

/** Until the transaction ends, so that two that come at once see each other's facts. Other users' are not held up. */
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

/** Forgets a fact for good. Answers with it; undefined when this user has none with this id at this agent. */
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

/** Forgets all that is known of an end user, by all agents of the workspace unless one is given. Answers how many facts that were. */
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

/** Forgets all that an agent knows of anybody. */
export async function forgetAgent(trx: Transaction<DB>, workspaceId: string, agentId: string): Promise<void> {
  await trx.deleteFrom('memories').where('workspace_id', '=', workspaceId).where('agent_id', '=', agentId).execute();
}
