import { addressHash, newAddressSecret } from '../../core/publicAddress.ts';
import { type ChannelConnectionRow, updateChannelConnectionRow } from '../../db/queries/channels/connections.ts';
import {
  hasPublicAddress,
  insertPublicAddress,
  removeExpiredAddresses,
  removePublicAddresses,
  updatePublicAddressEnd,
} from '../../db/queries/workspaces/publicAddresses.ts';
import type { ChannelContext, ChannelSecretsContext } from './connections.ts';
import { openChannelCredentials, sealChannelCredentials } from './credentials.ts';
import { rotateIdentitySecret, type WebChatCredentials } from './webChat/identitySecret.ts';

/** How long what was replaced works on: whoever uses it must be told the new one. */
const BOTH_VALID_MS = 24 * 60 * 60 * 1000;

/** The path of a connection's webhook, below the public address of the service. `address` is its id, or its secret. */
export const webhookPath = (address: string) => `/hooks/channels/${address}`;

/** Whether the webhook of a connection is reached by its id. What Z-API sends has no signature, so its address is a secret. */
export const isReachedById = ({ channel_type }: Pick<ChannelConnectionRow, 'channel_type'>) => channel_type !== 'z_api';

/**
 * Makes a new secret address for a connection that the caller has locked, and returns the secret: it is not stored, and cannot be shown
 * again. The address before it works for a day more, or ends now.
 */
export async function rotateChannelAddress(
  { db, workspaceId, clock }: ChannelContext,
  row: ChannelConnectionRow,
  { endNow = false }: { endNow?: boolean } = {},
): Promise<string> {
  const now = clock.now();
  const secret = newAddressSecret();
  if (endNow) await removePublicAddresses(db, workspaceId, row.id);
  else {
    await removeExpiredAddresses(db, workspaceId, row.id, now);
    await updatePublicAddressEnd(db, workspaceId, row.id, new Date(now.getTime() + BOTH_VALID_MS));
  }
  await insertPublicAddress(db, {
    address_hash: addressHash(secret),
    workspace_id: workspaceId,
    kind: 'channel',
    target_id: row.id,
    created_at: now,
  });
  return secret;
}

/** Whether any address leads to the connection. */
export function hasChannelAddress(
  { db, workspaceId, clock }: ChannelContext,
  row: ChannelConnectionRow,
): Promise<boolean> {
  return hasPublicAddress(db, workspaceId, row.id, clock.now());
}

/**
 * Makes a new secret for a web chat that the caller has locked: the site that embeds it signs with it who a visitor is. The one before
 * works for a day more, or ends now. Throws SecretUnreadable.
 */
export async function rotateIdentity(
  { db, workspaceId, clock, runtime }: ChannelSecretsContext,
  row: ChannelConnectionRow,
  { endNow = false }: { endNow?: boolean } = {},
): Promise<string> {
  const now = clock.now();
  const before = endNow ? null : (openChannelCredentials(runtime.secrets, row) as WebChatCredentials | null);
  const { secret, credentials } = rotateIdentitySecret(before, now);
  const sealed = sealChannelCredentials(runtime.secrets, workspaceId, row.id, { ...credentials });
  await updateChannelConnectionRow(db, workspaceId, row.id, { credentials: sealed, updated_at: now });
  return secret;
}
