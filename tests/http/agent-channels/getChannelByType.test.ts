import { makeAgent } from '../../support/agents/agents.ts';
import { channelPath, makeConnection } from '../../support/channels/connections.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const byType = (agentId: string, type: string) => app.api('get', `/agents/${agentId}/channels/by-type/${type}`);

describe('200', () => {
  test("the agent's connection of the type, after a new one too", async () => {
    const { agentId, ...webChat } = await makeConnection(app);
    const { agentId: _, ...zApi } = await makeConnection(app, 'z_api', { agentId });
    expect((await byType(agentId, 'web_chat')).body).toEqual(webChat);
    expect((await byType(agentId, 'z_api')).body).toEqual(zApi);
    await app.api('delete', channelPath({ agentId, publicId: webChat.publicId })).expect(204);
    const again = await makeConnection(app, 'web_chat', { agentId });
    expect((await byType(agentId, 'web_chat')).body.publicId).toBe(again.publicId);
  });
});

describeMissingAgent(
  () => app,
  (agentId) => byType(agentId, 'web_chat'),
);

describe('404 CHANNEL_CONNECTION_NOT_FOUND', () => {
  test.each(['z_api', 'telegram', 'WEB_CHAT'])('the agent is not connected to %s', async (type) => {
    const { agentId } = await makeConnection(app);
    const { status, body } = await byType(agentId, type);
    expect([status, body.code]).toEqual([404, 'CHANNEL_CONNECTION_NOT_FOUND']);
  });

  test('a connection of another agent or workspace does not count', async () => {
    await makeConnection(app);
    await makeConnection(app, 'web_chat', { key: app.stranger.apiKey });
    const { publicId } = await makeAgent(app);
    expect((await byType(publicId, 'web_chat')).body.code).toBe('CHANNEL_CONNECTION_NOT_FOUND');
  });
});
