import { newId } from '../../../core/ids.ts';
import { withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeSource, readSource } from '../../support/knowledge/knowledge.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const update = (id: string, body: object) => app.api('patch', `/knowledge-sources/${id}`).send(body);

describe('200', () => {
  test('name and description change, nothing else; the source is not processed again', async () => {
    const source = await makeSource(app);
    clock.advance(5000);
    const { status, body } = await update(source.publicId, { name: 'New', description: 'Newer.' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...source, name: 'New', description: 'Newer.', updatedAt: clock.now().toISOString() });
    expect(await readSource(app, source.publicId)).toEqual(body);
  });

  test('a field that is left out stays; nothing at all is no change', async () => {
    const source = await makeSource(app, { description: 'About money.' });
    expect((await update(source.publicId, { name: 'New' })).body.description).toBe('About money.');
    const { body } = await update(source.publicId, { description: '' });
    expect(body).toMatchObject({ name: 'New', description: '' });
    const same = await update(source.publicId, {});
    expect([same.status, same.body]).toEqual([200, body]);
  });

  test('another source may have the name', async () => {
    const [one, two] = [await makeSource(app, { name: 'One' }), await makeSource(app, { name: 'Two' })];
    expect((await update(two.publicId, { name: one.name })).status).toBe(200);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    { name: '' },
    { name: ' ' },
    { name: null },
    { name: 'x'.repeat(151) },
    { description: 'x'.repeat(501) },
    { textContent: 'new' },
    { processingStatus: 'COMPLETED' },
  ])('refuses %j', async (body) => {
    const source = await makeSource(app);
    const answer = await update(source.publicId, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await readSource(app, source.publicId)).toEqual(source);
  });
});

describe('404 KNOWLEDGE_SOURCE_NOT_FOUND', () => {
  test("another workspace's source is treated as one that does not exist, and stays as it is", async () => {
    const foreign = await makeSource(app, {}, app.stranger.apiKey);
    const missing = await update(newId(), { name: 'Mine' });
    const { status, body } = await update(foreign.publicId, { name: 'Mine' });
    expect([status, body.code]).toEqual([404, 'KNOWLEDGE_SOURCE_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await readSource(app, foreign.publicId, app.stranger.apiKey)).toEqual(foreign);
  });

  test('nor with nothing to change', async () => {
    expect((await update(newId(), {})).body.code).toBe('KNOWLEDGE_SOURCE_NOT_FOUND');
  });
});
