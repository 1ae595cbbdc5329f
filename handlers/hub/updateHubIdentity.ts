import { ensureHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import type { Handler } from '../handler.ts';
import { hubBody } from './hubBody.ts';

/** Change the identity of the hub. `null` is read as absent, as the contract has it. */
export const updateHubIdentity: Handler<'updateHubIdentity'> = async (context) => {
  const { body, db, workspaceId, runtime, clock, reply } = context;
  const now = clock.now();
  const hub = await ensureHub(db, workspaceId, now);
  const change = {
    name: body.name ?? undefined,
    description: body.description ?? undefined,
    theme: body.theme ?? undefined,
    primary_color: body.primaryColor ?? undefined,
    secondary_color: body.secondaryColor ?? undefined,
    pricing_widget_color: body.pricingWidgetColor ?? undefined,
    support_channel_type: body.supportChannelType ?? undefined,
    support_channel_value: body.supportChannelValue ?? undefined,
    support_email: body.supportEmail ?? undefined,
    support_whatsapp_message: body.supportWhatsappMessage ?? undefined,
  };
  if (Object.values(change).every((value) => value === undefined)) return reply(200, hubBody(hub, runtime));
  return reply(200, hubBody(await updateHubRow(db, workspaceId, { ...change, updated_at: now }), runtime));
};
