import { newId } from '../../../core/ids.ts';
import { withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSource } from '../../support/knowledge/knowledge.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (id: string) => app.api('get', `/knowledge-sources/${id}`);

describe('200', () => {
  test('the source as it was made', async () => {
    const source = await makeSource(app, { description: 'About money.' });
    const { status, body } = await get(source.publicId);
    expect([status, body]).toEqual([200, source]);
  });

  test('one that failed says why, and when', async () => {
    const { publicId } = await makeSource(app);
    const at = new Date('2026-11-21T09:16:02.123Z');
    await app.workspace.db
      .updateTable('knowledge_sources')
      .set({ processing_status: 'FAILED', error_message: 'The file is empty.', last_processed_at: at })
      .where('id', '=', publicId)
      .execute();
    expect((await get(publicId)).body).toMatchObject({
      processingStatus: 'FAILED',
      errorMessage: 'The file is empty.',
      lastProcessedAt: '2026-11-21T09:16:02.123Z',
    });
  });
});

describe('404 KNOWLEDGE_SOURCE_NOT_FOUND', () => {
  test("another workspace's source is treated as one that does not exist", async () => {
    const foreign = await makeSource(app, {}, app.stranger.apiKey);
    const missing = await get(newId());
    const { status, body } = await get(foreign.publicId);
    expect([status, body.code]).toEqual([404, 'KNOWLEDGE_SOURCE_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });

  test('a deleted source is gone', async () => {
    const { publicId } = await makeSource(app);
    await app.api('delete', `/knowledge-sources/${publicId}`);
    expect((await get(publicId)).status).toBe(404);
  });
});
