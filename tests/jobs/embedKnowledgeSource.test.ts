import { startTestApp, type TestApp } from '../support/http/app.ts';
import { readSource } from '../support/knowledge/knowledge.ts';
import { poll } from '../support/poll.ts';
import { startEmbeddingServer } from '../support/servers/embeddingServer.ts';

test('a source from before the model was configured gets its vectors at the next start', async () => {
  const api = await startTestApp();
  const before = await startTestApp({ database: api.database, jobs: true });
  const server = await startEmbeddingServer();
  let after: TestApp | undefined;
  try {
    const { body } = await before
      .api('post', '/knowledge-sources', api.workspace.apiKey)
      .send({ name: 'Old', textContent: 'About lamps.' });
    await poll(
      () => readSource(api, body.publicId),
      ({ processingStatus }) => processingStatus === 'COMPLETED',
    );
    await before.close();
    after = await startTestApp({ database: api.database, jobs: true, models: server.settings() });
    const models = () => api.workspace.db.selectFrom('knowledge_embeddings').select(['source_id', 'model']).execute();
    const found = await poll(models, (rows) => rows.length > 0);
    expect(found).toEqual([{ source_id: body.publicId, model: expect.stringContaining('/') }]);
  } finally {
    await after?.close();
    await api.close();
    await server.close();
  }
});
