import { pino } from 'pino';
import type { Clock } from '../../../core/clock.ts';
import { type AgentSetup, publishedAgent } from '../../http/messages/turns.ts';
import { startTestApp, type TestApp } from '../http/app.ts';
import { poll } from '../poll.ts';
import { adminJson } from '../scripts/admin.ts';
import { type AudioServer, startAudioServer } from '../servers/audioServer.ts';
import { type ModelServer, startModelServer } from '../servers/modelServer.ts';
import { startWhatsappServer, type WhatsappServer } from '../servers/whatsappServer.ts';
import { startZApiServer, type ZApiServer } from '../servers/zApiServer.ts';
import { channelPath, makeConnection } from './connections.ts';

/** Goes on as the machine's clock does, and can be put ahead. */
export class LeadingClock implements Clock {
  #leadMs = 0;

  now(): Date {
    return new Date(Date.now() + this.#leadMs);
  }

  advance(ms: number): void {
    this.#leadMs += ms;
  }
}

/** A service that runs its jobs, its models, and the providers of its channels. Read it in hooks of tests and in tests. */
export interface ChannelApp {
  readonly app: TestApp;
  readonly clock: LeadingClock;
  readonly models: ModelServer;
  readonly audio: AudioServer;
  readonly whatsapp: WhatsappServer;
  readonly zApi: ZApiServer;
  /** What must be in no line of the log: it is looked for after each test. */
  readonly secrets: string[];
}

/** An agent on a channel: its connection, and the path of its webhook. */
export interface AgentOnChannel {
  agentId: string;
  connectionId: string;
  hook: string;
}

/** Gives each test of a file a service of its own; the servers are forgetful between tests. */
export function useChannelApp(): ChannelApp {
  let models: ModelServer;
  let audio: AudioServer;
  let whatsapp: WhatsappServer;
  let zApi: ZApiServer;
  let app: TestApp;
  let clock: LeadingClock;
  let lines: string[] = [];
  let secrets: string[] = [];

  beforeAll(async () => {
    [models, audio] = await Promise.all([startModelServer(), startAudioServer()]);
  });
  afterAll(() => Promise.all([models.close(), audio.close()]));
  beforeEach(async () => {
    models.reset();
    audio.reset();
    clock = new LeadingClock();
    [whatsapp, zApi] = await Promise.all([startWhatsappServer(), startZApiServer()]);
    const { openai } = audio.settings();
    lines = [];
    const { accessToken, appSecret, verifyToken } = whatsapp;
    secrets = [accessToken, appSecret, verifyToken, zApi.instanceToken, zApi.clientToken];
    app = await startTestApp({
      jobs: true,
      logger: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
      clock,
      models: models.settings(openai ? { openai } : {}),
      channels: { whatsappBaseUrl: whatsapp.baseUrl, zApiBaseUrl: zApi.baseUrl },
    });
  });
  afterEach(async () => {
    await app.close();
    await Promise.all([whatsapp.close(), zApi.close()]);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  });

  return {
    get app() {
      return app;
    },
    get clock() {
      return clock;
    },
    get models() {
      return models;
    },
    get audio() {
      return audio;
    },
    get whatsapp() {
      return whatsapp;
    },
    get zApi() {
      return zApi;
    },
    get secrets() {
      return secrets;
    },
  };
}

/** A published agent on the number of the Cloud API, configured as an operator does. */
export async function onWhatsapp(
  { app, whatsapp }: ChannelApp,
  setup: AgentSetup = {},
  config: Record<string, string> = {},
): Promise<AgentOnChannel> {
  const agentId = await publishedAgent(app, setup);
  const { publicId: connectionId } = await makeConnection(app, 'whatsapp', { agentId });
  await configureNumber({ app, whatsapp }, connectionId, config);
  return { agentId, connectionId, hook: `/hooks/channels/${connectionId}` };
}

/** Configures a connection with the number and the present credentials of the Cloud API. */
export async function configureNumber(
  { app, whatsapp }: Pick<ChannelApp, 'app' | 'whatsapp'>,
  connectionId: string,
  config: Record<string, string> = {},
): Promise<void> {
  const { phoneNumberId, accessToken, appSecret, verifyToken } = whatsapp;
  const settings = ['--config', JSON.stringify({ phoneNumberId, ...config })];
  const credentials = ['--credentials', JSON.stringify({ accessToken, appSecret, verifyToken })];
  await adminJson(app, 'channel', 'configure', connectionId, ...settings, ...credentials);
}

/** A published agent on the instance of Z-API. */
export async function onZApi({ app, zApi, secrets }: ChannelApp, setup: AgentSetup = {}): Promise<AgentOnChannel> {
  const agentId = await publishedAgent(app, setup);
  const channel = await makeConnection(app, 'z_api', { agentId });
  const { instanceId, instanceToken, clientToken } = zApi;
  const settings = { channelSpecificConfig: { instanceId }, credentials: { instanceToken, clientToken } };
  await app.api('patch', channelPath(channel)).send(settings).expect(200);
  const { webhookUrl } = await adminJson(app, 'channel', 'rotate', channel.publicId);
  const hook = new URL(webhookUrl).pathname;
  secrets.push(hook.split('/').at(-1) ?? '');
  return { agentId, connectionId: channel.publicId, hook };
}

/** Sends a webhook as Meta does. It must be taken. */
export async function metaSends(
  { app, whatsapp }: ChannelApp,
  { hook }: AgentOnChannel,
  payload: unknown,
): Promise<void> {
  const { body, headers } = whatsapp.sign(payload);
  await app.raw.post(hook).set(headers).send(body).expect(200);
}

/** Sends a webhook as Z-API does. It must be taken. */
export async function zApiSends({ app }: ChannelApp, { hook }: AgentOnChannel, payload: object): Promise<void> {
  await app.raw.post(hook).send(payload).expect(200);
}

/** Waits until so many messages were accepted by a provider, and returns their contents. */
export async function contentsAt(server: { messages: { content: string }[] }, count: number): Promise<string[]> {
  const messages = await poll(
    () => server.messages,
    ({ length }) => length >= count,
  );
  return messages.map(({ content }) => content);
}

/** The deliveries of a connection in their order. */
export function deliveriesAt({ app }: ChannelApp, { connectionId }: AgentOnChannel) {
  return app.workspace.db
    .selectFrom('deliveries')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** The conversations of a connection in their order. */
export function conversationsAt({ app }: ChannelApp, { connectionId }: AgentOnChannel) {
  return app.workspace.db
    .selectFrom('conversations')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
}

/** Waits until everything that was received is settled. */
export async function settled({ app }: ChannelApp, { connectionId }: AgentOnChannel): Promise<string[]> {
  const rows = await poll(
    () =>
      app.workspace.db
        .selectFrom('inbound_messages')
        .select(['provider_message_id', 'status'])
        .where('connection_id', '=', connectionId)
        .orderBy('received_at')
        .orderBy('provider_message_id')
        .execute(),
    (found) => found.length > 0 && found.every(({ status }) => status !== 'received' && status !== 'taken'),
  );
  return rows.map(({ status }) => status);
}
