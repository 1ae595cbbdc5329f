import type { HubNameOwner } from '../../../db/queries/hubs/hubNames.ts';
import type { HubRow } from '../../../db/queries/hubs/hubs.ts';
import { type HubSettings, hubUrlOf } from '../../../domain/hubs/hubUrl.ts';
import { languageOf } from '../../pages/hub/texts.ts';
import type { HubSite } from './visit.ts';

/** How a request came to its hub: by a host of the hub's own, or below `/hub` of the service. */
export type HubWay = 'host' | 'path';

/** The hub as its pages see it. What leads to it is taken from the database and the settings, never from the request. */
export function siteOf(settings: HubSettings, owner: HubNameOwner, hub: HubRow, way: HubWay): HubSite {
  const service = URL.parse(settings.publicUrl);
  const prefix = service?.pathname.replace(/\/+$/, '') ?? '';
  const isPath = way === 'path';
  const ownHost = owner.kind === 'domain' ? `https://${owner.name}` : (hubUrlOf(settings, owner.name) ?? '');
  return {
    workspaceId: owner.workspace_id,
    hub,
    language: languageOf(hub.locale),
    base: isPath ? `${prefix}/hub/${owner.name}` : '',
    files: isPath ? `${prefix}/files/` : '/files/',
    address: isPath ? `${settings.publicUrl}/hub/${owner.name}` : ownHost,
    isSecure: !isPath || service?.protocol === 'https:',
  };
}
