import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeSource } from '../../support/knowledge.ts';

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(() => app.close());

const available = (agentId: string) => app.api('get', `/agents/${agentId}/knowledge-sources/available`);

describe('200', () => {
  test('what is not linked to this agent, newest first', async () => {
    const [agent, other] = [await makeAgent(app), await makeAgent(app)];
    const sources = [];
    for (const name of ['a', 'b', 'c']) sources.unshift(await makeSource(app, { name, description: `About ${name}.` }));
    const shown = sources.map(({ publicId, name, description }) => ({ publicId, name, description }));
    const { status, body } = await available(agent.publicId);
    expect([status, body]).toEqual([200, shown]);
    const linked = { knowledgeSourcePublicId: sources[1]?.publicId };
    await app.api('post', `/agents/${agent.publicId}/knowledge-sources`).send(linked);
    expect((await available(agent.publicId)).body).toEqual([shown[0], shown[2]]);
    expect((await available(other.publicId)).body).toEqual(shown);
  });

  test('neither deleted sources nor those of another workspace', async () => {
    const agent = await makeAgent(app);
    const { publicId } = await makeSource(app);
    await makeSource(app, {}, app.stranger.apiKey);
    await app.api('delete', `/knowledge-sources/${publicId}`);
    expect((await available(agent.publicId)).body).toEqual([]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const missing = await available(newId());
    const { status, body } = await available(foreign.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to link to', async () => {
    const agent = await makeAgent(app);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await available(agent.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
