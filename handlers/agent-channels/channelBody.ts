import type { ChannelConnectionRow } from '../../db/queries/channels/connections.ts';
import { typeOf } from '../../domain/channels/connections.ts';
import type { components } from '../../generated/api.ts';

/** The connection as the contract shows it: never its credentials. */
export function channelBody(row: ChannelConnectionRow): components['schemas']['Channel'] {
  const config = row.config as Record<string, unknown>;
  // A web chat is configured by an empty object, too.
  const isSet = row.is_configured || Object.keys(config).length > 0;
  return {
    publicId: row.id,
    channelType: row.channel_type,
    channelName: typeOf(row).label,
    isActive: row.is_active,
    isConfigured: row.is_configured,
    instanceMode: row.instance_mode,
    channelSpecificConfig: isSet ? config : null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
