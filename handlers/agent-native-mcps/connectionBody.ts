import type { LinkedRow } from '../../db/queries/agents/agentLinks.ts';
import type { NativeConnectionRow } from '../../db/queries/tools/nativeConnections.ts';
import type { components } from '../../generated/api.ts';
import type { ConnectionState } from '../../integrations/toolkits/toolkits.ts';

/** The connection as the contract shows it; `link` is the agent's link to it, if it has one. */
export function connectionBody(
  row: NativeConnectionRow,
  { status, toolkit }: ConnectionState,
  link: LinkedRow | null,
): components['schemas']['NativeMcpConnection'] {
  return {
    publicId: row.id,
    name: row.name,
    status,
    instanceMode: link?.instance_mode ?? null,
    toolkitSlug: toolkit.slug,
    toolkitName: toolkit.name,
    toolkitIconUrl: toolkit.iconUrl,
  };
}
