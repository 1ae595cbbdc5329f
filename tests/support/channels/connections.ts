import type { components } from '../../../generated/api.ts';
import { makeAgent } from '../agents/agents.ts';
import type { TestApp } from '../http/app.ts';
import { adminJson } from '../scripts/admin.ts';

type Channel = components['schemas']['Channel'];

/** Credentials as Z-API gives them. */
export const ZAPI_CREDENTIALS = { instanceToken: 'token-of-the-instance', clientToken: 'token-of-the-account' };

/** Connects an agent to a channel, by default a new agent. */
export async function makeConnection(
  app: TestApp,
  channelType: Channel['channelType'] = 'web_chat',
  { agentId, key }: { agentId?: string; key?: string } = {},
): Promise<Channel & { agentId: string }> {
  const agent = agentId ?? (await makeAgent(app, {}, key)).publicId;
  const connected = await app.api('post', `/agents/${agent}/channels`, key).send({ channelType });
  if (connected.status !== 201) throw new Error(connected.text);
  return { ...connected.body, agentId: agent };
}

/** The path of a connection. */
export const channelPath = ({ agentId, publicId }: { agentId: string; publicId: string }) =>
  `/agents/${agentId}/channels/${publicId}`;

/** The stored row of a connection, deleted or not. */
export function storedConnection(app: TestApp, id: string) {
  return app.workspace.db.selectFrom('channel_connections').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

/** How many addresses lead to a connection. */
export async function addressesOf(app: TestApp, connectionId: string): Promise<number> {
  const rows = await app.workspace.db
    .selectFrom('public_addresses')
    .select('kind')
    .where('target_id', '=', connectionId)
    .execute();
  return rows.length;
}

/** Credentials as the operator sets them for a number of the Cloud API. */
export const WHATSAPP_CREDENTIALS = {
  accessToken: 'EAAtoken-of-the-system-user',
  appSecret: 'the-secret-of-the-app-0123456789',
  verifyToken: 'the-token-that-we-chose',
};

/** Configures a connection to WhatsApp as the operator does. */
export async function configureWhatsapp(
  app: TestApp,
  { publicId }: { publicId: string },
  phoneNumberId: string,
  credentials: object = WHATSAPP_CREDENTIALS,
): Promise<void> {
  const config = JSON.stringify({ phoneNumberId });
  await adminJson(
    app,
    'channel',
    'configure',
    publicId,
    '--config',
    config,
    '--credentials',
    JSON.stringify(credentials),
  );
}

/** A new connection to Z-API that is configured, and the path of its webhook. */
export async function makeZApi(app: TestApp, instanceId: string, at: { agentId?: string; key?: string } = {}) {
  const channel = await makeConnection(app, 'z_api', at);
  const settings = { channelSpecificConfig: { instanceId }, credentials: ZAPI_CREDENTIALS };
  await app.api('patch', channelPath(channel), at.key).send(settings).expect(200);
  const { webhookUrl } = await adminJson(app, 'channel', 'rotate', channel.publicId);
  return { ...channel, hook: new URL(webhookUrl).pathname };
}
