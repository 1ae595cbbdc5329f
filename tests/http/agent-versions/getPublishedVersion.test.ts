import { newId } from '../../../core/ids.ts';
import { makeReadyAgent, publish, setStatus, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (agentId: string, key?: string) => app.api('get', `/agents/${agentId}/versions/published`, key);

describe('200', () => {
  test('returns the version of publishedVersionNumber, as getVersion returns it', async () => {
    const agent = await makeReadyAgent(app, { systemPrompt: 'One.' });
    await publish(app, agent.publicId);
    await app.api('patch', `/agents/${agent.publicId}`).send({ systemPrompt: 'Two.' }).expect(200);
    const { publishedVersionNumber } = await publish(app, agent.publicId, 'Second.');
    const { status, body } = await get(agent.publicId);
    expect(status).toBe(200);
    expect(body).toMatchObject({ versionNumber: 2, notes: 'Second.', systemPrompt: 'Two.' });
    const same = await app.api('get', `/agents/${agent.publicId}/versions/${publishedVersionNumber}`);
    expect(body).toEqual(same.body);
  });

  test('does not change when the draft changes or a version is restored', async () => {
    const agent = await makeReadyAgent(app, { systemPrompt: 'One.' });
    await publish(app, agent.publicId);
    await app.api('patch', `/agents/${agent.publicId}`).send({ systemPrompt: 'Two.' }).expect(200);
    await publish(app, agent.publicId);
    const published = (await get(agent.publicId)).body;
    await app.api('patch', `/agents/${agent.publicId}`).send({ systemPrompt: 'Three.' }).expect(200);
    expect((await get(agent.publicId)).body).toEqual(published);
    await app.api('post', `/agents/${agent.publicId}/versions/1/restore`).expect(200);
    expect((await get(agent.publicId)).body).toEqual(published);
  });

  test('returns it for an archived agent too', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    await setStatus(app.workspace, agent.publicId, 'archived');
    expect((await get(agent.publicId)).body.versionNumber).toBe(1);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist", async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    const missing = await get(newId(), app.stranger.apiKey);
    const { status, body } = await get(agent.publicId, app.stranger.apiKey);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });
});

describe('404 VERSION_NOT_FOUND', () => {
  test('an agent has none until it is first published', async () => {
    const agent = await makeReadyAgent(app);
    const { status, body } = await get(agent.publicId);
    expect([status, body.code]).toEqual([404, 'VERSION_NOT_FOUND']);
  });
});
