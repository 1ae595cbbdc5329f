import type { HubRow } from '../../db/queries/hubs/hubs.ts';
import { type HubSettings, hubUrlOf, logoUrlOf } from '../../domain/hubs/hubUrl.ts';
import type { components } from '../../generated/api.ts';

type Schemas = components['schemas'];

/** The hub as the contract shows it. */
export function hubBody(row: HubRow, settings: HubSettings): Schemas['Hub'] {
  return {
    publicId: row.id,
    name: row.name,
    description: row.description,
    ...accessBody(row, settings),
    ...domainBody(row, settings),
    theme: row.theme,
    primaryColor: row.primary_color,
    secondaryColor: row.secondary_color,
    pricingWidgetColor: row.pricing_widget_color,
    logoHorizontalUrl: logoUrlOf(settings, row.logo_horizontal_key),
    logoIconUrl: logoUrlOf(settings, row.logo_icon_key),
    logoEmailUrl: logoUrlOf(settings, row.logo_email_key),
    supportChannelType: row.support_channel_type,
    supportChannelValue: row.support_channel_value,
    supportEmail: row.support_email,
    supportWhatsappMessage: row.support_whatsapp_message,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Who may enter the hub, as the contract shows it. */
export function accessBody(row: HubRow, settings: HubSettings): Schemas['HubAccess'] {
  const { default_plan_id: planId, default_plan_name: planName } = row;
  return {
    accessType: row.access_type,
    defaultPlan: planId === null || planName === null ? null : { publicId: planId, name: planName },
    selfServiceEnabled: row.self_service_enabled,
    loginBannerUrl: logoUrlOf(settings, row.logo_banner_key),
  };
}

/** Where the hub is, as the contract shows it. */
export function domainBody({ subdomain }: HubRow, settings: HubSettings): Schemas['HubDomain'] {
  return { subdomain, hubUrl: hubUrlOf(settings, subdomain) };
}
