import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSource } from '../../support/knowledge/knowledge.ts';

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(() => app.close());

const list = (query = '', key?: string) => app.api('get', `/knowledge-sources${query}`, key);
const names = async (query = '') => (await list(query)).body.items.map(({ name }: { name: string }) => name);

async function setStatus(id: string, status: 'PROCESSING' | 'COMPLETED'): Promise<void> {
  await app.workspace.db
    .updateTable('knowledge_sources')
    .set({ processing_status: status, last_processed_at: new Date() })
    .where('id', '=', id)
    .execute();
}

describe('200', () => {
  test('newest first, in pages; what was made at one time keeps its order', async () => {
    const made = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) made.unshift(await makeSource(app, { name }));
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({ items: made, page: 1, limit: 20, total: 5, totalPages: 1 });
    expect((await list('?page=2&limit=2')).body).toMatchObject({ page: 2, limit: 2, total: 5, totalPages: 3 });
    expect(await names('?page=2&limit=2')).toEqual(['c', 'b']);
    expect((await list('?page=9')).body).toMatchObject({ items: [], total: 5 });
  });

  test('by name, in upper or lower case, as it is written', async () => {
    for (const name of ['Refund policy', 'Price list 100%', 'PRICES_old', 'pricesXold'])
      await makeSource(app, { name });
    expect(await names('?search=refund')).toEqual(['Refund policy']);
    expect(await names('?search=PRICE')).toEqual(['pricesXold', 'PRICES_old', 'Price list 100%']);
    expect(await names('?search=s_old')).toEqual(['PRICES_old']);
    expect(await names('?search=100%25')).toEqual(['Price list 100%']);
  });

  test('by status, together with the name', async () => {
    const [waiting, running, done] = [
      await makeSource(app, { name: 'one' }),
      await makeSource(app, { name: 'two' }),
      await makeSource(app, { name: 'three' }),
    ];
    await setStatus(running.publicId, 'PROCESSING');
    await setStatus(done.publicId, 'COMPLETED');
    expect(await names('?status=PENDING')).toEqual([waiting.name]);
    expect(await names('?status=PROCESSING')).toEqual(['two']);
    expect(await names('?status=COMPLETED&search=T')).toEqual(['three']);
    expect((await list('?status=COMPLETED&search=one')).body).toMatchObject({ items: [], total: 0, totalPages: 0 });
    expect(await names('?status=FAILED')).toEqual([]);
  });

  test('neither deleted sources nor those of another workspace', async () => {
    const mine = await makeSource(app, { name: 'mine' });
    const gone = await makeSource(app, { name: 'gone' });
    const theirs = await makeSource(app, { name: 'theirs' }, app.stranger.apiKey);
    await app.api('delete', `/knowledge-sources/${gone.publicId}`);
    expect((await list()).body).toMatchObject({ items: [mine], total: 1 });
    expect((await list('', app.stranger.apiKey)).body).toMatchObject({ items: [theirs], total: 1 });
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['?status=DONE', '?status=completed', `?search=${'x'.repeat(201)}`, '?limit=101', '?page=0'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await list(query);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );
});
