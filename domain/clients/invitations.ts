import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { addressHash } from '../../core/publicAddress.ts';
import type { SecretBox } from '../../core/secrets.ts';
import { type ClientRow, findClient } from '../../db/queries/clients/clients.ts';
import {
  type ClientUserRow,
  type InvitationRow,
  insertInvitation,
  lockInvitation,
  updateInvitationRow,
} from '../../db/queries/clients/clientUsers.ts';
import { findHub } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import { type HubSettings, hubUrlOf } from '../hubs/hubUrl.ts';
import { newToken, TOKEN_LIFE_MS } from '../hubs/sessions.ts';
import { queueMail } from '../mail/queueMail.ts';

/** What invitations are made and mailed with. A WorkspaceContext has it. */
export interface InvitationContext {
  db: Kysely<DB>;
  workspaceId: string;
  clock: Pick<Clock, 'now'>;
  runtime: HubSettings & { secrets: SecretBox };
}

/** Who is invited, and to what. */
interface Invited {
  client: Pick<ClientRow, 'workspace_id' | 'id' | 'name'>;
  user: Pick<ClientUserRow, 'id' | 'email' | 'name'>;
  /** Whether the link goes out by mail. A hub without a subdomain has no pages, and mails none. */
  isMailed: boolean;
}

/** Invites a new user of a client. The token is a secret: `<hubUrl>/accept/<token>` is the link, for 7 days. */
export async function inviteUser(
  trx: Transaction<DB>,
  context: InvitationContext,
  { client, user, isMailed }: Invited,
): Promise<{ token: string; invitationId: string; expiresAt: Date }> {
  const now = context.clock.now();
  const expiresAt = new Date(now.getTime() + TOKEN_LIFE_MS.invitation);
  const invitationId = newId();
  await insertInvitation(trx, {
    workspace_id: client.workspace_id,
    id: invitationId,
    client_id: client.id,
    user_id: user.id,
    created_at: now,
    expires_at: expiresAt,
  });
  const token = await giveToken(trx, context, { client, user, isMailed, invitationId, expiresAt });
  return { token, invitationId, expiresAt };
}

/**
 * Mails a pending invitation again, with a new link: the one before it works no more. It can be accepted for 7 days from now. Throws
 * CLIENT_NOT_FOUND and INVITATION_NOT_FOUND, also for one that was accepted.
 */
export function renewInvitation(
  context: InvitationContext,
  clientId: string,
  invitationId: string,
): Promise<InvitationRow> {
  const { db, workspaceId, clock } = context;
  return inTransaction(db, async (trx) => {
    const client = await findClient(trx, workspaceId, clientId);
    if (!client) throw fault('CLIENT_NOT_FOUND');
    const invitation = await lockInvitation(trx, client, invitationId);
    if (!invitation) throw fault('INVITATION_NOT_FOUND');
    const expiresAt = new Date(clock.now().getTime() + TOKEN_LIFE_MS.invitation);
    await updateInvitationRow(trx, invitation, expiresAt);
    const { user_id: id, email, name } = invitation;
    await giveToken(trx, context, { client, user: { id, email, name }, isMailed: true, invitationId, expiresAt });
    return { ...invitation, expires_at: expiresAt };
  });
}

async function giveToken(
  trx: Transaction<DB>,
  context: InvitationContext,
  invited: Invited & { invitationId: string; expiresAt: Date },
): Promise<string> {
  const { client, user, isMailed, invitationId, expiresAt } = invited;
  const { workspace_id: workspaceId } = client;
  const now = context.clock.now();
  const { token } = await newToken(trx, { workspaceId, userId: user.id, kind: 'invitation', now });
  const hubUrl = isMailed ? hubUrlOf(context.runtime, (await findHub(trx, workspaceId))?.subdomain ?? null) : null;
  if (hubUrl === null) return token;
  await queueMail(trx, context, {
    workspaceId,
    kind: 'invitation',
    to: { email: user.email, name: user.name },
    // Each link is mailed once.
    key: `invitation:${invitationId}:${addressHash(token).toString('hex')}`,
    data: { clientName: client.name, url: `${hubUrl}/accept/${token}`, expiresAt: expiresAt.toISOString() },
  });
  return token;
}
