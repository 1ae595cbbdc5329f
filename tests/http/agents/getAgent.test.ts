import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { addModel, makeAgent, readAgent, setStatus } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from './agents.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('returns the editable state, not the published one', async () => {
    const { publicId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId, systemPrompt: 'Published.' });
    await app.api('post', `/agents/${publicId}/publish`);
    await app.api('patch', `/agents/${publicId}`).send({ systemPrompt: 'Edited.' });
    expect(await readAgent(app, publicId)).toMatchObject({
      systemPrompt: 'Edited.',
      status: 'active',
      publishedVersionNumber: 1,
      draftVersionNumber: 2,
      hasUnpublishedChanges: true,
    });
  });

  test('has the name of the model, of the catalogue or of the workspace', async () => {
    const { publicId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId });
    expect((await readAgent(app, publicId)).aiModelName).toBe(BUILTIN_MODEL.name);
    await app
      .api('patch', `/agents/${publicId}`)
      .send({ aiModelPublicId: await addModel(app.workspace, { name: 'House model' }) });
    expect((await readAgent(app, publicId)).aiModelName).toBe('House model');
  });

  test.each(['inactive', 'archived'] as const)('shows one that is %s', async (status) => {
    const { publicId } = await makeAgent(app);
    await setStatus(app.workspace, publicId, status);
    expect(await readAgent(app, publicId)).toMatchObject({
      status,
      draftVersionNumber: status === 'archived' ? null : 1,
    });
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const { answers } = await answersForMissing(app, (id) => app.api('get', `/agents/${id}`));
    expect(answers).toEqual(allNotFound);
  });
});
