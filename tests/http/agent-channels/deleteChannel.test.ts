import {
  addressesOf,
  channelPath,
  makeConnection,
  storedConnection,
  ZAPI_CREDENTIALS,
} from '../../support/channels/connections.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingChannel } from './missingChannel.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const ERASED = { config: {}, credentials: null, provider_account: null, is_configured: false };

describe('204', () => {
  test('settings and secrets are erased, and the type and the instance can be used again', async () => {
    const channel = await makeConnection(app, 'z_api');
    const settings = { channelSpecificConfig: { instanceId: 'again' }, credentials: ZAPI_CREDENTIALS };
    await app.api('patch', channelPath(channel)).send(settings).expect(200);
    expect(await storedConnection(app, channel.publicId)).toMatchObject({ provider_account: 'again' });
    await app.api('delete', channelPath(channel)).expect(204);
    expect(await storedConnection(app, channel.publicId)).toMatchObject(ERASED);
    await app.api('get', channelPath(channel)).expect(404);
    const again = await makeConnection(app, 'z_api', { agentId: channel.agentId });
    expect(again).toMatchObject({ isConfigured: false, channelSpecificConfig: null });
    await app.api('patch', channelPath(again)).send(settings).expect(200);
  });

  test('its address stops working with it', async () => {
    const channel = await makeConnection(app);
    expect(await addressesOf(app, channel.publicId)).toBe(1);
    await app.api('delete', channelPath(channel)).expect(204);
    expect(await addressesOf(app, channel.publicId)).toBe(0);
  });

  test('a deleted agent takes its connections and their addresses along', async () => {
    const channel = await makeConnection(app, 'z_api');
    const chat = await makeConnection(app, 'web_chat', { agentId: channel.agentId });
    const settings = { channelSpecificConfig: { instanceId: 'of the agent'.replaceAll(' ', '-') } };
    await app
      .api('patch', channelPath(channel))
      .send({ ...settings, credentials: ZAPI_CREDENTIALS })
      .expect(200);
    await app.api('delete', `/agents/${channel.agentId}`).expect(204);
    const stored = await storedConnection(app, channel.publicId);
    expect(stored).toMatchObject({ ...ERASED, deleted_at: expect.any(Date) });
    expect(await addressesOf(app, chat.publicId)).toBe(0);
    const other = await makeConnection(app, 'z_api');
    await app
      .api('patch', channelPath(other))
      .send({ ...settings, credentials: ZAPI_CREDENTIALS })
      .expect(200);
  });
});

describeMissingChannel(
  () => app,
  (agentId, publicId) => app.api('delete', channelPath({ agentId, publicId })),
);

test('another connection keeps what it has when one is deleted, or refused to be', async () => {
  const foreign = await makeConnection(app, 'web_chat', { key: app.stranger.apiKey });
  await app.api('delete', channelPath(foreign)).expect(404);
  expect((await app.api('get', channelPath(foreign), app.stranger.apiKey)).status).toBe(200);
});
