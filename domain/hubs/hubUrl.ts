import { publicFileUrl } from '../../runtime/files/publicFiles.ts';

/** Where hubs are. A `Runtime` has both; a command makes them from its environment. */
export interface HubSettings {
  /** Public base address of the service, without a slash at its end. */
  readonly publicUrl: string;
  /** The domain below which each hub has its subdomain, in lower case. */
  readonly hubDomain?: string | undefined;
}

/** The address of the hub with this subdomain, without a slash at its end; null without a subdomain. */
export function hubUrlOf({ publicUrl, hubDomain }: HubSettings, subdomain: string | null): string | null {
  if (subdomain === null) return null;
  return hubDomain === undefined ? `${publicUrl}/hub/${subdomain}` : `https://${subdomain}.${hubDomain}`;
}

/**
 * The name under which `hub_names` may have the host of a request: the label before the hub domain, or else the whole host as a custom
 * domain. `host` is as the header has it, so a port and upper case are allowed. Undefined for the hub domain itself and for more than
 * one label before it, which are never names.
 */
export function hubNameOfHost({ hubDomain }: Pick<HubSettings, 'hubDomain'>, host: string): string | undefined {
  const name = host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  // Without a dot it would be read as a subdomain.
  if (!name.includes('.')) return undefined;
  if (hubDomain === undefined || !`.${name}`.endsWith(`.${hubDomain}`)) return name;
  const label = name.slice(0, -hubDomain.length - 1);
  return label === '' || label.includes('.') ? undefined : label;
}

/** The address of a logo that the file store has under `key`; null without one. */
export function logoUrlOf({ publicUrl }: Pick<HubSettings, 'publicUrl'>, key: string | null): string | null {
  return key === null ? null : publicFileUrl(publicUrl, key);
}
