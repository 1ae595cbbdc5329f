import { randomUUID } from 'node:crypto';
import type { ChannelAccount, WebhookRequest } from '../../../integrations/channels/provider.ts';
import type { WhatsappServer } from '../servers/whatsappServer.ts';
import type { ZApiServer } from '../servers/zApiServer.ts';

/** The account of the phone number at a Cloud API. */
export function whatsappAccount(server: WhatsappServer): ChannelAccount {
  const { phoneNumberId, accessToken, appSecret, verifyToken } = server;
  return {
    workspaceId: randomUUID(),
    connectionId: randomUUID(),
    config: { phoneNumberId, businessAccountId: '102290129340398' },
    credentials: { accessToken, appSecret, verifyToken },
  };
}

/** The account of the instance at a Z-API. */
export function zApiAccount(server: ZApiServer): ChannelAccount {
  const { instanceId, instanceToken, clientToken } = server;
  return {
    workspaceId: randomUUID(),
    connectionId: randomUUID(),
    config: { instanceId },
    credentials: { instanceToken, clientToken },
  };
}

/** A POST with this body. */
export function postOf(body: string | Buffer, headers: WebhookRequest['headers'] = {}): WebhookRequest {
  return { method: 'POST', headers, query: {}, body: Buffer.from(body) };
}
