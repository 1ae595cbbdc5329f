import { channelPath, makeConnection } from '../../support/channels/connections.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingChannel } from './missingChannel.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('the connection, whichever case its id is written in', async () => {
    const { agentId, ...channel } = await makeConnection(app);
    const { status, body } = await app.api('get', channelPath({ agentId, publicId: channel.publicId }));
    expect([status, body]).toEqual([200, channel]);
    const upper = { agentId: agentId.toUpperCase(), publicId: channel.publicId.toUpperCase() };
    expect((await app.api('get', channelPath(upper))).body).toEqual(channel);
  });
});

describeMissingChannel(
  () => app,
  (agentId, publicId) => app.api('get', channelPath({ agentId, publicId })),
);
