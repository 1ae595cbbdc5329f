import type { Kysely, Transaction } from 'kysely';
import { addressHash, newAddressSecret } from '../../core/publicAddress.ts';
import {
  type ClientTokenKind,
  findTokenHolder,
  insertClientToken,
  removeClientToken,
  removeTokensOfUser,
  type TokenUser,
  updateTokenEnd,
  updateUserOnboarded,
  updateUserSeen,
} from '../../db/queries/clients/clientTokens.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long each kind of token works, in milliseconds. */
export const TOKEN_LIFE_MS: Readonly<Record<ClientTokenKind, number>> = {
  invitation: 7 * DAY_MS,
  sign_in: 15 * MINUTE_MS,
  session: 30 * DAY_MS,
};
/** A session that is in use gets a new secret so often. */
const ROTATION_MS = DAY_MS;
/** Requests that were sent with the earlier secret still have it. */
const ROTATION_GRACE_MS = MINUTE_MS;
/** That a user was seen is written at most so often. */
const SEEN_MS = MINUTE_MS;
/** The form of a token: `newAddressSecret` makes them. */
const TOKEN = /^[0-9a-f]{40}$/;

/** A secret, and when it stops working. It is nowhere stored as it is: whoever loses it needs a new one. */
export interface NewToken {
  token: string;
  expiresAt: Date;
}

/**
 * Makes a secret for a user of a client: 160 random bits, of which the hash is stored. An invitation takes the place of the user's earlier one, whose
 * link stops working.
 */
export async function newToken(
  db: Kysely<DB>,
  { workspaceId, userId, kind, now }: { workspaceId: string; userId: string; kind: ClientTokenKind; now: Date },
): Promise<NewToken> {
  const token = newAddressSecret();
  const expiresAt = new Date(now.getTime() + TOKEN_LIFE_MS[kind]);
  if (kind === 'invitation') await removeTokensOfUser(db, workspaceId, userId, kind);
  await insertClientToken(db, {
    workspace_id: workspaceId,
    token_hash: addressHash(token),
    user_id: userId,
    kind,
    created_at: now,
    expires_at: expiresAt,
  });
  return { token, expiresAt };
}

/** A token as somebody shows it. */
interface ShownToken {
  workspaceId: string;
  token: string;
  now: Date;
}

/** Whose link it is; undefined when it does not work (any more). Changes nothing. */
export async function findLinkUser(
  db: Kysely<DB>,
  { workspaceId, token, now }: ShownToken,
  kind: 'invitation' | 'sign_in',
): Promise<TokenUser | undefined> {
  if (!TOKEN.test(token)) return undefined;
  return findTokenHolder(db, { workspace_id: workspaceId, token_hash: addressHash(token), kind }, now);
}

/**
 * Uses a one-time link within the caller's transaction: the user is onboarded, the invitation accepted. Undefined when the link does not work: it is
 * unknown, used, expired, of another hub or another kind, or its user or client is gone. Of several who use it at once, one succeeds.
 */
export async function useToken(
  trx: Transaction<DB>,
  { workspaceId, token, now }: ShownToken,
  kind: 'invitation' | 'sign_in',
): Promise<TokenUser | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const key = { workspace_id: workspaceId, token_hash: addressHash(token), kind };
  const user = await findTokenHolder(trx, key, now);
  if (!user || !(await removeClientToken(trx, key, now))) return undefined;
  // Both kinds of links came by mail: who follows one reads the mailbox, and the other links have no use any more.
  await removeTokensOfUser(trx, workspaceId, user.id, 'invitation');
  await removeTokensOfUser(trx, workspaceId, user.id, 'sign_in');
  await updateUserOnboarded(trx, workspaceId, user.id, now);
  await updateUserSeen(trx, workspaceId, user.id, { now, before: now });
  return user;
}

/** A signed-in user. */
export interface HubSession {
  user: TokenUser;
  /** In place of the secret that was shown, when the session has got a new one. */
  renewed: NewToken | undefined;
}

/**
 * Whose session it is; undefined when it has ended: after 30 days, at the removal of the user or the deletion of the client, or because the user signed out.
 * Nothing of it is remembered, so that an end counts at once. A session in use gets a new secret each day.
 */
export async function findSession(
  db: Kysely<DB>,
  { workspaceId, token, now }: ShownToken,
): Promise<HubSession | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const key = { workspace_id: workspaceId, token_hash: addressHash(token), kind: 'session' as const };
  const holder = await findTokenHolder(db, key, now);
  if (!holder) return undefined;
  const { token_created_at: createdAt, ...user } = holder;
  const before = new Date(now.getTime() - SEEN_MS);
  if (user.last_seen_at === null || user.last_seen_at < before)
    await updateUserSeen(db, workspaceId, user.id, { now, before });
  if (now.getTime() - createdAt.getTime() < ROTATION_MS) return { user, renewed: undefined };
  const renewed = await inTransaction(db, async (trx) => {
    // Of several requests at once, one renews.
    const isFirst = await updateTokenEnd(trx, key, new Date(now.getTime() + ROTATION_GRACE_MS));
    return isFirst ? newToken(trx, { workspaceId, userId: user.id, kind: 'session', now }) : undefined;
  });
  return { user, renewed };
}

/** Whether a session has not ended. It changes nothing: where a request is under way already, no new secret can be handed out. */
export async function isSessionOpen(db: Kysely<DB>, { workspaceId, token, now }: ShownToken): Promise<boolean> {
  if (!TOKEN.test(token)) return false;
  const key = { workspace_id: workspaceId, token_hash: addressHash(token), kind: 'session' as const };
  return (await findTokenHolder(db, key, now)) !== undefined;
}

/** Ends a session. Does nothing when there is none. */
export async function endSession(db: Kysely<DB>, { workspaceId, token, now }: ShownToken): Promise<void> {
  if (!TOKEN.test(token)) return;
  const key = { workspace_id: workspaceId, token_hash: addressHash(token), kind: 'session' as const };
  await inTransaction(db, (trx) => removeClientToken(trx, key, now));
}
