import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeSkill } from '../../support/tools/skills.ts';

const clock = new TestClock();
let app: TestApp;
beforeEach(async () => {
  app = await startTestApp({ clock });
});
afterEach(() => app.close());

const list = (query = '', key?: string) => app.api('get', `/skills${query}`, key);
const named = (name: string) => makeSkill(app, { fields: `name: "${name}"\ndescription: x`, files: { 'a.md': name } });
const namesOf = async (query: string) => {
  const { status, body } = await list(query);
  expect(status).toBe(200);
  return body.items.map(({ name }: { name: string }) => name);
};

describe('200', () => {
  test('an empty page when there are no skills', async () => {
    expect((await list()).body).toEqual({ items: [], page: 1, limit: 20, total: 0, totalPages: 0 });
  });

  test('newest first, with all that getSkill shows', async () => {
    const first = await named('first');
    // Made at the same time: the id decides.
    const second = await named('second');
    clock.advance(1000);
    const third = await named('third');
    expect((await list()).body).toEqual({ items: [third, second, first], page: 1, limit: 20, total: 3, totalPages: 1 });
  });

  test('pages hold each skill once, with its own files', async () => {
    for (const name of ['a', 'b', 'c']) await named(name);
    const pages = await Promise.all(['?page=1&limit=2', '?page=2&limit=2'].map((query) => list(query)));
    const items = pages.flatMap(({ body }) => body.items);
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['c', 'b', 'a']);
    expect(items.every(({ files }: { files: object[] }) => files.length === 2)).toBe(true);
    expect((await list('?page=3&limit=2')).body).toEqual({ items: [], page: 3, limit: 2, total: 3, totalPages: 2 });
  });

  test('search finds a part of the name in any case, and every character is literal', async () => {
    for (const name of ['Order Triage', 'triage_50%', 'other']) await named(name);
    expect(await namesOf('?search=TRIAGE')).toEqual(['triage_50%', 'Order Triage']);
    expect(await namesOf('?search=e_5')).toEqual(['triage_50%']);
    expect(await namesOf('?search=r_T')).toEqual([]);
    expect(await namesOf('?search=%25')).toEqual(['triage_50%']);
    expect((await list('?search=zzz')).body).toMatchObject({ items: [], total: 0, totalPages: 0 });
  });

  test("deleted skills and another workspace's are absent", async () => {
    const gone = await named('gone');
    await app.api('delete', `/skills/${gone.publicId}`);
    await makeSkill(app, { key: app.stranger.apiKey });
    expect((await list()).body).toMatchObject({ items: [], total: 0 });
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['?limit=101', '?page=0', '?status=active'])('refuses %s', async (query) => {
    const { status, body } = await list(query);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
