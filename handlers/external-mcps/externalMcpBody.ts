import type { ShownExternalMcp } from '../../db/queries/tools/externalMcps.ts';
import type { components } from '../../generated/api.ts';

type ExternalMcp = components['schemas']['ExternalMcp'];

/** The server as the contract shows it: never its credential. */
export function externalMcpBody(row: ShownExternalMcp): ExternalMcp {
  return {
    publicId: row.id,
    name: row.name,
    url: row.url,
    authType: row.auth_type,
    // By the contract an API key shows no header.
    authHeaderName: row.auth_type === 'CUSTOM_HEADER' ? row.auth_header_name : null,
    status: row.status,
    errorMessage: row.error_message,
    lastDiscoveredAt: row.last_discovered_at?.toISOString() ?? null,
    tools: row.tools.map(({ id, name, description, enabled }) => ({ id, name, description, enabled })),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
