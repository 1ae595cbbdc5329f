import { newId } from '../../../core/ids.ts';
import { makeReadyAgent, publish, readAgent, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSource, readSource } from '../../support/knowledge/knowledge.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (id: string) => app.api('delete', `/knowledge-sources/${id}`);

describe('204', () => {
  test('the source is gone, and its name free', async () => {
    const source = await makeSource(app, { name: 'Gone' });
    expect((await remove(source.publicId)).status).toBe(204);
    expect((await app.api('get', `/knowledge-sources/${source.publicId}`)).status).toBe(404);
    expect((await makeSource(app, { name: 'Gone' })).publicId).not.toBe(source.publicId);
  });

  test('it leaves the drafts that it is linked to, which is an unpublished change', async () => {
    const [agent, source] = [await makeReadyAgent(app), await makeSource(app)];
    const links = `/agents/${agent.publicId}/knowledge-sources`;
    await app.api('post', links).send({ knowledgeSourcePublicId: source.publicId });
    await publish(app, agent.publicId);
    await remove(source.publicId);
    expect((await app.api('get', links)).body).toEqual([]);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
  });

  test('of two at the same time one deletes it', async () => {
    const { publicId } = await makeSource(app);
    const answers = await Promise.all([remove(publicId), remove(publicId), remove(publicId)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });
});

describe('404 KNOWLEDGE_SOURCE_NOT_FOUND', () => {
  test("another workspace's source is treated as one that does not exist, and stays", async () => {
    const foreign = await makeSource(app, {}, app.stranger.apiKey);
    const missing = await remove(newId());
    const { status, body } = await remove(foreign.publicId);
    expect([status, body.code]).toEqual([404, 'KNOWLEDGE_SOURCE_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await readSource(app, foreign.publicId, app.stranger.apiKey)).toEqual(foreign);
  });

  test('a second time it is not there', async () => {
    const { publicId } = await makeSource(app);
    await remove(publicId);
    expect((await remove(publicId)).status).toBe(404);
  });
});
