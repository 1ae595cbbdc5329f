import type { ConnectionWithState } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { components } from '../../generated/api.ts';

/** The connection as the contract shows it. */
export function connectionBody({
  row,
  state,
  link,
}: ConnectionWithState): components['schemas']['NativeMcpConnection'] {
  const { status, toolkit } = state;
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
