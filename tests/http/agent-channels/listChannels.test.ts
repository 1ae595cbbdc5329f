import { makeAgent } from '../../support/agents/agents.ts';
import { channelPath, makeConnection } from '../../support/channels/connections.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const list = (agentId: string) => app.api('get', `/agents/${agentId}/channels`);

describe('200', () => {
  test("all the agent's connections, newest first, active or not, without those of others", async () => {
    const { publicId: agentId } = await makeAgent(app);
    expect((await list(agentId)).body).toEqual([]);
    for (const type of ['whatsapp', 'web_chat', 'z_api'] as const) {
      clock.advance(1000);
      await makeConnection(app, type, { agentId });
    }
    await makeConnection(app);
    await makeConnection(app, 'web_chat', { key: app.stranger.apiKey });
    const { status, body } = await list(agentId);
    expect(status).toBe(200);
    expect(body.map((each: { channelType: string }) => each.channelType)).toEqual(['z_api', 'web_chat', 'whatsapp']);
    await app.api('patch', channelPath({ agentId, publicId: body[1].publicId })).send({ isActive: false });
    expect((await list(agentId)).body).toMatchObject([{ isActive: true }, { isActive: false }, { isActive: true }]);
    await app.api('delete', channelPath({ agentId, publicId: body[0].publicId })).expect(204);
    expect((await list(agentId)).body).toHaveLength(2);
  });
});

describeMissingAgent(() => app, list);
