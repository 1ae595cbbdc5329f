import { createHmac } from 'node:crypto';
import type { InboundEvent } from '../../../integrations/channels/provider.ts';
import { channelSettingsFromEnv } from '../../../integrations/channels/settings.ts';
import { WhatsappProvider } from '../../../integrations/channels/whatsapp/whatsapp.ts';
import { postOf } from './accounts.ts';
import { BUSINESS_ID, PHONE_NUMBER_ID } from './whatsappPayloads.ts';

/* The Cloud API's webhooks as events, at a time that stands still. */

/** The present. */
export const NOW = new Date('2026-03-02T12:00:00.000Z');
const APP_SECRET = 'app-secret-0123456789abcdef';
/** The account that receives. */
export const account = {
  workspaceId: 'w',
  connectionId: 'c',
  config: { phoneNumberId: PHONE_NUMBER_ID, businessAccountId: BUSINESS_ID },
  credentials: { accessToken: 'token', appSecret: APP_SECRET, verifyToken: 'verify-me' },
};
/** Its provider. */
export const provider = new WhatsappProvider({
  ...channelSettingsFromEnv({}),
  allowPrivateNetwork: false,
  clock: { now: () => NOW },
});

/** The value of the signature's header. */
export const signatureOf = (body: string, secret = APP_SECRET) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
/** The answer to a signed webhook: an object, or the text of a body. */
export const receive = (payload: unknown) => {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return provider.receive(account, postOf(body, { 'x-hub-signature-256': signatureOf(body) }));
};
/** The events of a signed webhook. */
export function eventsOf(payload: unknown): { account: string | null; event: InboundEvent }[] {
  const answer = receive(payload);
  if (answer.kind !== 'events') throw new Error(JSON.stringify(answer));
  return answer.events;
}
/** The first of them. */
export const eventOf = (payload: unknown) => eventsOf(payload)[0]?.event;
