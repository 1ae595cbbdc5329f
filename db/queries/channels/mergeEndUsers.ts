import { sql, type Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';
import { MAX_MEMORIES } from '../conversations/memories.ts';
import type { EndUserRow } from './endUsers.ts';

/**
 * Makes two end users one: identities, conversations and messages that are not answered yet are those of `kept` from now on, and
 * `lost` is gone. Both must be locked. What agents remember moves by `moveMemories`.
 */
export async function mergeEndUserRows(
  trx: Transaction<DB>,
  workspaceId: string,
  kept: Pick<EndUserRow, 'id' | 'connection_id' | 'external_user_id'>,
  lost: Pick<EndUserRow, 'id'>,
): Promise<void> {
  await trx
    .updateTable('channel_identities')
    .set({ end_user_id: kept.id })
    .where('workspace_id', '=', workspaceId)
    .where('end_user_id', '=', lost.id)
    .execute();
  await trx
    .updateTable('conversations')
    .set({ end_user_id: kept.id, external_user_id: kept.external_user_id })
    .where('workspace_id', '=', workspaceId)
    .where('end_user_id', '=', lost.id)
    .execute();
  // Settled messages keep the name under which they were answered: nobody asks for it, and there are very many.
  await trx
    .updateTable('inbound_messages')
    .set({ end_user_id: kept.id })
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', kept.connection_id)
    .where('end_user_id', '=', lost.id)
    .where('status', 'in', ['received', 'taken'])
    .execute();
  await trx.deleteFrom('end_users').where('workspace_id', '=', workspaceId).where('id', '=', lost.id).execute();
}

/**
 * Moves what agents remember of one external user id to another: equal facts become one, and beyond MAX_MEMORIES of an agent the
 * oldest go. When others have the old id too (a person on another connection, or a
 * user of the API), they keep a copy. Call it after `mergeEndUserRows`.
 */
export async function moveMemories(
  trx: Transaction<DB>,
  workspaceId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  if (from === to) return;
  const facts = await trx
    .selectFrom('memories')
    .select(['agent_id', 'fact', 'created_at', 'updated_at'])
    .where('workspace_id', '=', workspaceId)
    .where('external_user_id', '=', from)
    .execute();
  if (facts.length === 0) return;
  const moved = facts.map((fact) => ({ ...fact, workspace_id: workspaceId, id: newId(), external_user_id: to }));
  await sql`
    insert into memories (workspace_id, id, agent_id, external_user_id, fact, created_at, updated_at)
    select workspace_id, id, agent_id, external_user_id, fact, created_at, updated_at
    from jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) as moved (workspace_id uuid, id uuid, agent_id uuid, external_user_id text,
      fact text, created_at timestamptz, updated_at timestamptz)
    on conflict (workspace_id, agent_id, external_user_id, md5(fact))
      do update set updated_at = greatest(memories.updated_at, excluded.updated_at)`.execute(trx);
  const { rows } = await sql<{ shared: boolean }>`
    select exists (select from end_users where workspace_id = ${workspaceId} and external_user_id = ${from})
      or exists (select from conversations where workspace_id = ${workspaceId} and external_user_id = ${from}) as shared`.execute(
    trx,
  );
  if (rows[0]?.shared === false) {
    await trx
      .deleteFrom('memories')
      .where('workspace_id', '=', workspaceId)
      .where('external_user_id', '=', from)
      .execute();
  }
  await sql`
    delete from memories where workspace_id = ${workspaceId} and id in (
      select id from (
        select id, row_number() over (partition by agent_id order by updated_at desc, id desc) as place
        from memories where workspace_id = ${workspaceId} and external_user_id = ${to}
      ) ranked where place > ${MAX_MEMORIES})`.execute(trx);
}
