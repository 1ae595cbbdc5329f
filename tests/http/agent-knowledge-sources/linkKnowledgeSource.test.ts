import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeSource } from '../../support/knowledge.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const link = (agentId: string, knowledgeSourcePublicId: unknown) =>
  app.api('post', `/agents/${agentId}/knowledge-sources`).send({ knowledgeSourcePublicId });
const linksOf = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/knowledge-sources`, key)).body;

describe('201', () => {
  test('the source is linked, active, and in the list, though it is not processed yet', async () => {
    const [agent, source] = [await makeAgent(app), await makeSource(app)];
    expect(source.processingStatus).toBe('PENDING');
    const { status, body } = await link(agent.publicId, source.publicId);
    expect(status).toBe(201);
    const expected = { knowledgeSourcePublicId: source.publicId, knowledgeSourceName: source.name, active: true };
    expect(body).toEqual(expected);
    expect(await linksOf(agent.publicId)).toEqual([body]);
  });

  test('it is an unpublished change, which the next version has', async () => {
    const [agent, source] = [await makeReadyAgent(app), await makeSource(app)];
    await publish(app, agent.publicId);
    const { body } = await link(agent.publicId, source.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    await publish(app, agent.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
    const version = await app.api('get', `/agents/${agent.publicId}/versions/2`);
    expect(version.body.knowledgeSources).toEqual([body]);
  });

  test('several agents may have one source', async () => {
    const [one, two, source] = [await makeAgent(app), await makeAgent(app), await makeSource(app)];
    for (const agent of [one, two]) expect((await link(agent.publicId, source.publicId)).status).toBe(201);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['no-id', 7, null, undefined])('refuses the id %j', async (id) => {
    const agent = await makeAgent(app);
    const { status, body } = await link(agent.publicId, id);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist, and gets no source", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const source = await makeSource(app);
    const missing = await link(newId(), source.publicId);
    const { status, body } = await link(foreign.publicId, source.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await linksOf(foreign.publicId, app.stranger.apiKey)).toEqual([]);
  });
});

describe('404 KNOWLEDGE_SOURCE_NOT_FOUND', () => {
  test("another workspace's source answers as one that does not exist, and is not linked", async () => {
    const [agent, foreign] = [await makeAgent(app), await makeSource(app, {}, app.stranger.apiKey)];
    const missing = await link(agent.publicId, newId());
    const { status, body } = await link(agent.publicId, foreign.publicId);
    expect([status, body.code]).toEqual([404, 'KNOWLEDGE_SOURCE_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await linksOf(agent.publicId)).toEqual([]);
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
  });

  test('a deleted source cannot be linked', async () => {
    const [agent, source] = [await makeAgent(app), await makeSource(app)];
    await app.api('delete', `/knowledge-sources/${source.publicId}`);
    expect((await link(agent.publicId, source.publicId)).body.code).toBe('KNOWLEDGE_SOURCE_NOT_FOUND');
  });
});

describe('409 ALREADY_LINKED', () => {
  test('of two at the same time one links it', async () => {
    const [agent, source] = [await makeAgent(app), await makeSource(app)];
    const answers = await Promise.all([1, 2, 3].map(() => link(agent.publicId, source.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('ALREADY_LINKED');
    expect(await linksOf(agent.publicId)).toHaveLength(1);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to change', async () => {
    const [agent, source] = [await makeAgent(app), await makeSource(app)];
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await link(agent.publicId, source.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
