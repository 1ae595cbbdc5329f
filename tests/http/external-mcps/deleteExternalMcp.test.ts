import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { until } from '../../support/poll.ts';
import { startMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { registerMcp, storedMcps, storeMcp } from '../../support/tools/mcpApi.ts';

const certificate = useCertificate();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(() => app.close());

const remove = (id: string) => app.api('delete', `/external-mcps/${id}`);

describe('204', () => {
  test('the server is gone and its credential is erased', async () => {
    const server = await startMcpServer(certificate);
    const { publicId } = await registerMcp(app, { url: server.url, authType: 'API_KEY', authValue: 'sk-secret' });
    await remove(publicId).expect(204);
    await app.api('get', `/external-mcps/${publicId}`).expect(404);
    const stored = (await storedMcps(app.workspace)).find(({ id }) => id === publicId);
    expect([stored?.credential, stored?.deleted_at]).toEqual([null, expect.any(Date)]);
    await server.close();
  });

  test('the session that calls of its tools share is ended', async () => {
    const server = await startMcpServer(certificate);
    const { publicId: externalMcpPublicId } = await registerMcp(app, { url: server.url });
    await until(() => server.sessions.size === 0);
    const { publicId: agentId } = await makeReadyAgent(app);
    await app.api('post', `/agents/${agentId}/external-mcps`).send({ externalMcpPublicId }).expect(201);
    await publish(app, agentId);
    const content = 'Call echo {"text": "Anybody there?"}';
    const { body } = await app.api('post', `/agents/${agentId}/messages`).send({ content }).expect(200);
    expect(body.message.content).toContain('echo: Anybody there?');
    expect(server.sessions.size).toBe(1);
    // The API takes ids in any case; the connection is held under the stored one.
    await remove(externalMcpPublicId.toUpperCase()).expect(204);
    await until(() => server.sessions.size === 0);
    await server.close();
  });

  test('every agent that it was linked to loses it, and that is an unpublished change', async () => {
    const [id, other] = [await storeMcp(app.workspace), await storeMcp(app.workspace)];
    const agents = [await makeReadyAgent(app), await makeReadyAgent(app)];
    for (const { publicId } of agents) {
      for (const externalMcpPublicId of [id, other]) {
        await app.api('post', `/agents/${publicId}/external-mcps`).send({ externalMcpPublicId }).expect(201);
      }
      await publish(app, publicId);
    }
    await remove(id).expect(204);
    for (const { publicId } of agents) {
      const { body } = await app.api('get', `/agents/${publicId}/external-mcps`);
      expect(body.map((link: { externalMcpPublicId: string }) => link.externalMcpPublicId)).toEqual([other]);
      expect((await readAgent(app, publicId)).hasUnpublishedChanges).toBe(true);
    }
  });

  test('it can be deleted while an agent is being linked to it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await storeMcp(app.workspace);
      const { publicId } = await makeAgent(app);
      const [linked] = await Promise.all([
        app.api('post', `/agents/${publicId}/external-mcps`).send({ externalMcpPublicId: id }),
        remove(id).expect(204),
      ]);
      expect([201, 404]).toContain(linked.status);
      expect((await app.api('get', `/agents/${publicId}/external-mcps`)).body).toEqual([]);
    }
  });
});

describe('404 EXTERNAL_MCP_NOT_FOUND', () => {
  test("a deleted one and another workspace's are treated as one that does not exist", async () => {
    const foreign = await storeMcp(app.stranger);
    const deleted = await storeMcp(app.workspace);
    await remove(deleted).expect(204);
    const missing = await remove(newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
    for (const id of [deleted, foreign]) {
      const answer = await remove(id);
      expect(answer.status).toBe(404);
      expect(withoutRequestId(answer.body)).toEqual(withoutRequestId(missing.body));
    }
    await app.api('get', `/external-mcps/${foreign}`, app.stranger.apiKey).expect(200);
  });
});
