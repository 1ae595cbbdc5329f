import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { listLinks, makeLink } from './links.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const update = (id: string, body: object) => app.api('patch', `/hub/external-links/${id}`).send(body);

describe('200', () => {
  test('title and address change, the place stays; an empty body changes nothing', async () => {
    const [link, next] = [await makeLink(app), await makeLink(app)];
    const changes = [
      { title: 'New' },
      { url: 'http://new.example/' },
      { title: 'Newer', url: 'https://newer.example/' },
    ];
    let expected = link;
    for (const change of [...changes, {}]) {
      expected = { ...expected, ...change };
      const { status, body } = await update(link.publicId, change);
      expect([status, body]).toEqual([200, expected]);
    }
    expect(await listLinks(app)).toEqual([expected, next]);
  });

  test('a link may get its own title in another case', async () => {
    const { publicId } = await makeLink(app, { title: 'Docs' });
    expect((await update(publicId, { title: 'DOCS' })).body.title).toBe('DOCS');
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    { title: '' },
    { title: null },
    { title: 'x'.repeat(101) },
    { url: '' },
    { url: null },
    { url: 'javascript:alert(1)' },
    { url: 'https://[' },
    { displayOrder: 3 },
  ])('refuses %j', async (body) => {
    const before = await listLinks(app);
    const answer = await update(before[0]?.publicId ?? '', body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await listLinks(app)).toEqual(before);
  });
});

describe('404 EXTERNAL_LINK_NOT_FOUND', () => {
  test("another workspace's link and a deleted one are treated as one that does not exist", async () => {
    const foreign = await makeLink(app, {}, app.stranger.apiKey);
    const deleted = await makeLink(app);
    await app.api('delete', `/hub/external-links/${deleted.publicId}`).expect(204);
    for (const body of [{ title: 'Mine' }, {}])
      await expectMissing('EXTERNAL_LINK_NOT_FOUND', (id) => update(id, body), [foreign.publicId, deleted.publicId]);
    expect(await listLinks(app, app.stranger.apiKey)).toEqual([foreign]);
  });
});

describe('409 EXTERNAL_LINK_TITLE_TAKEN', () => {
  test('the title of another link, in any case, is refused, and the address stays too', async () => {
    const [link] = [await makeLink(app), await makeLink(app, { title: 'Help' })];
    const { status, body } = await update(link.publicId, { title: 'HELP', url: 'https://other.example' });
    expect([status, body.code]).toEqual([409, 'EXTERNAL_LINK_TITLE_TAKEN']);
    expect(await listLinks(app)).toContainEqual(link);
  });
});
