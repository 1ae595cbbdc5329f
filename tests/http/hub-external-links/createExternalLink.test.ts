import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { listLinks, makeLink } from './links.ts';

// IDEMPOTENCY_IN_PROGRESS and IDEMPOTENCY_KEY_REUSED: tests/http/idempotency, for every operation that takes a key.

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const create = (body: object, key?: string) => app.api('post', '/hub/external-links', key).send(body);
const url = 'https://docs.acme.example';

describe('201', () => {
  test('the link comes last in the menu, also after one was deleted', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const { status, body } = await create({ title: 'Docs', url }, apiKey);
    const createdAt = clock.now().toISOString();
    expect([status, body]).toEqual([
      201,
      { publicId: expect.any(String), title: 'Docs', url, displayOrder: 1, createdAt },
    ]);
    const [second, third] = [await makeLink(app, {}, apiKey), await makeLink(app, {}, apiKey)];
    await app.api('delete', `/hub/external-links/${second.publicId}`, apiKey).expect(204);
    expect((await makeLink(app, {}, apiKey)).displayOrder).toBe(third.displayOrder + 1);
  });

  test.each([
    { title: 'a', url: 'http://a' },
    { title: '🦊'.repeat(100), url: `https://example.com/${'x'.repeat(2028)}` },
    { title: '<b>Café & "co"</b>', url: 'https://bücher.example/größe?q=ü#x' },
  ])('values at their bounds are stored unchanged (%#)', async (fields) => {
    expect((await create(fields)).body).toMatchObject(fields);
  });

  test('another hub may have the title', async () => {
    await makeLink(app, { title: 'Shared' });
    expect((await makeLink(app, { title: 'Shared' }, app.stranger.apiKey)).title).toBe('Shared');
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    [{ url }, '/body/title'],
    [{ title: 'x' }, '/body/url'],
    [{ title: '', url }, '/body/title'],
    [{ title: '  ', url }, '/body/title'],
    [{ title: 'x'.repeat(101), url }, '/body/title'],
    [{ title: 'x', url: `https://example.com/${'x'.repeat(2029)}` }, '/body/url'],
    [{ title: 'x', url: 'javascript:alert(1)' }, '/body/url'],
    [{ title: 'x', url: 'ftp://example.com' }, '/body/url'],
    [{ title: 'x', url: 'https://' }, '/body/url'],
    [{ title: 'x', url: 'https://[' }, '/body/url'],
    [{ title: 'x', url: 'http://a b' }, '/body/url'],
    [{ title: 'x', url, displayOrder: 1 }, '/body/displayOrder'],
  ])('refuses %j', async (body, path) => {
    const before = await listLinks(app);
    const answer = await create(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.details).toEqual(expect.arrayContaining([expect.objectContaining({ path })]));
    expect(await listLinks(app)).toEqual(before);
  });
});

describe('409 EXTERNAL_LINK_TITLE_TAKEN', () => {
  test('titles are the same in upper and lower case; that of a deleted link is free', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const link = await makeLink(app, { title: 'Größe' }, apiKey);
    const { status, body } = await create({ title: 'GRÖßE', url }, apiKey);
    expect([status, body.code]).toEqual([409, 'EXTERNAL_LINK_TITLE_TAKEN']);
    await app.api('delete', `/hub/external-links/${link.publicId}`, apiKey).expect(204);
    expect((await create({ title: 'GRÖßE', url }, apiKey)).status).toBe(201);
  });

  test('one of many at once gets the title', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const answers = await Promise.all(Array.from({ length: 5 }, () => create({ title: 'Docs', url }, apiKey)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });
});

describe('422 EXTERNAL_LINK_LIMIT_REACHED', () => {
  test('of 30 links at once the hub gets 10, with the places 1 to 10', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const titles = Array.from({ length: 30 }, (_, index) => `Link ${index}`);
    const answers = await Promise.all(titles.map((title) => create({ title, url }, apiKey)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 20 }, () => [422, 'EXTERNAL_LINK_LIMIT_REACHED']),
    );
    const [first, ...others] = await listLinks(app, apiKey);
    expect([first, ...others].map((link) => link?.displayOrder)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await app.api('delete', `/hub/external-links/${first?.publicId}`, apiKey).expect(204);
    expect((await create({ title: 'One more', url }, apiKey)).body.displayOrder).toBe(11);
  });
});
