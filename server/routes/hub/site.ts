import type { HubNameOwner } from '../../../db/queries/hubs/hubNames.ts';
import type { HubRow } from '../../../db/queries/hubs/hubs.ts';
import { type HubSettings, hubUrlOf } from '../../../domain/hubs/hubUrl.ts';
import { languageOf } from '../../pages/hub/texts.ts';
import type { HubSite } from './visit.ts';

/** How a request came to its hub: by a host of the hub's own, or below `/hub` of the service. */
export type HubWay = 'host' | 'path';

/** By what a hub's session cookie is known: see HubSite. `name` has no effect on a host of the hub's own. */
export function cookieSiteOf(
  { publicUrl }: Pick<HubSettings, 'publicUrl'>,
  name: string,
  way: HubWay,
): Pick<HubSite, 'base' | 'isSecure'> {
  const service = URL.parse(publicUrl);
  const prefix = service?.pathname.replace(/\/+$/, '') ?? '';
  const isPath = way === 'path';
  return { base: isPath ? `${prefix}/hub/${name}` : '', isSecure: !isPath || service?.protocol === 'https:' };
}

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
    ...cookieSiteOf(settings, owner.name, way),
    files: isPath ? `${prefix}/files/` : '/files/',
    address: isPath ? `${settings.publicUrl}/hub/${owner.name}` : ownHost,
  };
}
