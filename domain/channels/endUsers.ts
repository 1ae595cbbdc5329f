import type { Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import { cutText, toStorable } from '../../core/text.ts';
import {
  type EndUserRow,
  findIdentities,
  insertEndUser,
  insertIdentities,
  lockEndUsers,
  lockNames,
  updateEndUserName,
} from '../../db/queries/channels/endUsers.ts';
import {
  type ConversationOwner,
  joinConversations,
  lockOpenConversations,
} from '../../db/queries/channels/joinConversations.ts';
import { mergeEndUserRows, moveMemories } from '../../db/queries/channels/mergeEndUsers.ts';
import type { DB } from '../../generated/db.ts';
import type { ChannelIdentity } from '../../integrations/channels/provider.ts';
import { readIdentities, samePerson } from './identities.ts';

/** Characters of a person's name, as the table has them. */
const MAX_NAME = 255;

/** A person on a channel, as the service knows it. */
export interface EndUser {
  id: string;
  /** That of all conversations of the person on the connection: what agents remember of the person is bound to it. It never changes. */
  externalUserId: string;
  /** The name that the person goes by; null when no payload gave one. */
  name: string | null;
  /** The conversation on the connection that goes on with the next message; null when a message begins one. */
  openConversationId: string | null;
}

/**
 * Finds the person whom a payload names, or makes a new one. Identities that are new become the person's. When they are those of two
 * people, the two become one: identities, conversations, unanswered messages and memories. A person has one open conversation on
 * a connection: of several, the one that goes on gets the messages, turns and waiting calls of the others.
 *
 * The person's row is locked until the transaction ends. So two messages of one new person at once make one person, and what the caller
 * does with the conversations of a person is done by one caller at a time. Call it once in a transaction, by `inTransaction`, before
 * other rows are locked.
 */
export async function resolveEndUser(
  trx: Transaction<DB>,
  { workspaceId, connectionId }: { workspaceId: string; connectionId: string },
  given: readonly ChannelIdentity[],
  { name, now }: { name: string | null; now: Date },
): Promise<EndUser> {
  const identities = readIdentities(given);
  const known = identities.flatMap(samePerson);
  await lockNames(trx, lockedNames(connectionId, known));
  const users = await lockKnown(trx, workspaceId, async () => {
    const found = await findIdentities(trx, workspaceId, connectionId, known);
    return [...new Set(found.map(({ end_user_id: id }) => id))];
  });
  const [first, ...others] = users;
  const shownName = name === null ? null : cutText(toStorable(name).trim(), MAX_NAME) || null;
  const user =
    first ??
    (await addEndUser(trx, { workspaceId, connectionId, externalUserId: identities[0].value, name: shownName, now }));
  for (const lost of others) {
    await mergeEndUserRows(trx, workspaceId, user, lost);
    await moveMemories(trx, workspaceId, { from: lost.external_user_id, to: user.external_user_id });
  }
  await insertIdentities(trx, { workspaceId, connectionId, endUserId: user.id }, identities, now);
  const kept = shownName ?? user.name ?? others.find((other) => other.name !== null)?.name ?? null;
  if (kept !== null && kept !== user.name) await updateEndUserName(trx, workspaceId, user.id, kept);
  const openConversationId = first
    ? await oneConversation(trx, { workspaceId, connectionId, endUserId: user.id }, now)
    : null;
  return { id: user.id, externalUserId: user.external_user_id, name: kept, openConversationId };
}

/** The open conversation of a person: of several, one goes on with what the others have. One that a turn holds is joined by a later message. */
async function oneConversation(trx: Transaction<DB>, owner: ConversationOwner, now: Date): Promise<string | null> {
  const [kept, ...others] = await lockOpenConversations(trx, owner);
  for (const { id, is_held } of others) {
    if (kept && !is_held) await joinConversations(trx, owner, { into: kept.id, from: id }, now);
  }
  return kept?.id ?? null;
}

/** The names of the locks of these identities. A phone number and the `wa_id` of the same digits come together, so they share one. */
function lockedNames(connectionId: string, identities: readonly { kind: string; value: string }[]): string[] {
  return identities.map(({ kind, value }) => `identity ${connectionId} ${kind} ${value}`).sort();
}

/**
 * Locks the end users that `find` finds, the oldest first. Another transaction may have made two of them one before they were locked: then
 * they are looked for again.
 */
async function lockKnown(
  trx: Transaction<DB>,
  workspaceId: string,
  find: () => Promise<string[]>,
): Promise<EndUserRow[]> {
  for (;;) {
    const ids = await find();
    if (ids.length === 0) return [];
    const locked = await lockEndUsers(trx, workspaceId, ids);
    if (locked.length === ids.length) return locked;
  }
}

async function addEndUser(
  trx: Transaction<DB>,
  of: { workspaceId: string; connectionId: string; externalUserId: string; name: string | null; now: Date },
): Promise<EndUserRow> {
  const { workspaceId, connectionId, externalUserId, name, now } = of;
  const user = {
    workspace_id: workspaceId,
    id: newId(),
    connection_id: connectionId,
    external_user_id: externalUserId,
    name,
    created_at: now,
  };
  await insertEndUser(trx, user);
  return user;
}
