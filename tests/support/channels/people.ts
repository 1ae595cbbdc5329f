import { newId } from '../../../core/ids.ts';
import { insertChannelConnection } from '../../../db/queries/channels/connections.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { type EndUser, resolveEndUser } from '../../../domain/channels/endUsers.ts';
import type { ChannelIdentity } from '../../../integrations/channels/provider.ts';
import type { SeededWorkspace } from '../db/database.ts';

/** A connection of an agent with a channel, for tests that store what happens on it. */
export interface TestConnection {
  workspaceId: string;
  connectionId: string;
  agentId: string;
}

/** An identity from a text such as `phone:+49 151`. */
export function identity(text: string): ChannelIdentity {
  const [kind = '', ...value] = text.split(':');
  return { kind: kind as ChannelIdentity['kind'], value: value.join(':') };
}

/** Adds an agent, if none is given, and a connection of it. */
export async function addConnection(
  { workspaceId, db }: Pick<SeededWorkspace, 'workspaceId' | 'db'>,
  given: { agentId?: string; type?: 'whatsapp' | 'z_api' | 'web_chat' } = {},
): Promise<TestConnection> {
  const [agentId, connectionId] = [given.agentId ?? newId(), newId()];
  if (given.agentId === undefined) {
    await db
      .insertInto('agents')
      .values({ workspace_id: workspaceId, id: agentId, name: `Agent ${agentId}` })
      .execute();
  }
  await insertChannelConnection(db, {
    workspace_id: workspaceId,
    id: connectionId,
    agent_id: agentId,
    channel_type: given.type ?? 'whatsapp',
    is_configured: true,
  });
  return { workspaceId, connectionId, agentId };
}

/** The person whom a payload with these identities names. */
export function personOf(
  { db }: Pick<SeededWorkspace, 'db'>,
  connection: TestConnection,
  names: readonly string[],
  { name = null, now = new Date() }: { name?: string | null; now?: Date } = {},
): Promise<EndUser> {
  return inTransaction(db, (trx) => resolveEndUser(trx, connection, names.map(identity), { name, now }));
}

/** Begins a conversation of a person, with one message. */
export async function beginTalk(
  { db }: Pick<SeededWorkspace, 'db'>,
  { workspaceId, connectionId, agentId }: TestConnection,
  { id: endUserId, externalUserId }: EndUser,
  given: { text?: string; at?: Date; turnId?: string; isPaused?: boolean; pausedUntil?: Date } = {},
): Promise<string> {
  const { text = 'Hello.', at = new Date(), turnId, isPaused = false, pausedUntil } = given;
  const id = newId();
  await db
    .insertInto('conversations')
    .values({
      workspace_id: workspaceId,
      id,
      agent_id: agentId,
      external_user_id: externalUserId,
      channel: 'whatsapp',
      connection_id: connectionId,
      end_user_id: endUserId,
      message_count: 1,
      started_at: at,
      last_message_at: at,
      last_message_snippet: text,
      last_inbound_at: at,
      is_paused: isPaused,
      paused_by: isPaused ? 'operator' : null,
      paused_until: pausedUntil ?? null,
      ...(turnId ? { turn_id: turnId, turn_expires_at: new Date(Date.now() + 60_000) } : {}),
    })
    .execute();
  await db
    .insertInto('messages')
    .values({ workspace_id: workspaceId, id: newId(), conversation_id: id, role: 'user', content: text, sent_at: at })
    .execute();
  return id;
}
