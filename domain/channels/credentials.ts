import type { SecretBox } from '../../core/secrets.ts';
import type { ChannelConnectionRow } from '../../db/queries/channels/connections.ts';

const placeOf = (workspaceId: string, id: string) => ({
  workspaceId,
  table: 'channel_connections',
  rowId: id,
  column: 'credentials',
});

/** Seals the credentials of a connection for its row. */
export function sealChannelCredentials(
  secrets: SecretBox,
  workspaceId: string,
  id: string,
  credentials: Readonly<Record<string, unknown>> | null,
): Buffer | null {
  return credentials && secrets.seal(JSON.stringify(credentials), placeOf(workspaceId, id));
}

/** The credentials of a connection; null when it has none. Throws SecretUnreadable. */
export function openChannelCredentials(
  secrets: SecretBox,
  { workspace_id, id, credentials }: Pick<ChannelConnectionRow, 'workspace_id' | 'id' | 'credentials'>,
): Record<string, unknown> | null {
  return credentials && JSON.parse(secrets.open(credentials, placeOf(workspace_id, id)));
}
