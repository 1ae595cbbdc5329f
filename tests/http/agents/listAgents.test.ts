import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { setStatus } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const clock = new TestClock();
let app: TestApp;

const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startTestApp({ clock });
  const all: [string, object][] = [
    ['Sales', { description: 'Answers QUESTIONS about 100% cotton', categories: ['shop', 'public'] }],
    ['Support', { description: 'answers questions_too', categories: ['public'] }],
    ['Müller', { description: null, categories: ['Shop'] }],
    ['back\\slash', { categories: ['internal'] }],
    ['Live', { categories: ['shop'] }],
    ['Off', {}],
    ['Old', { description: 'questions of old', categories: ['shop'] }],
    ['Gone', { description: 'questions', categories: ['shop'] }],
  ];
  for (const [name, fields] of all) {
    const { body } = await app.api('post', '/agents').send({ name, ...fields });
    ids[name] = body.publicId;
    clock.advance(1000);
  }
  for (const name of ['Live', 'Off']) {
    await app.api('patch', `/agents/${ids[name]}`).send({ aiModelPublicId: BUILTIN_MODEL.publicId });
    await app.api('post', `/agents/${ids[name]}/publish`);
  }
  await setStatus(app.workspace, ids.Off ?? '', 'inactive');
  await setStatus(app.workspace, ids.Old ?? '', 'archived');
  await app.api('delete', `/agents/${ids.Gone}`);
  await app
    .api('post', '/agents', app.stranger.apiKey)
    .send({ name: 'Foreign', description: 'questions', categories: ['shop'] });
});

afterAll(() => app.close());

async function listed(query: string): Promise<string[]> {
  const { status, body } = await app.api('get', `/agents${query}`);
  expect(status).toBe(200);
  expect(body.total).toBe(body.items.length);
  return body.items.map((item: { name: string }) => item.name);
}

describe('200', () => {
  test('the newest first, without agents that are archived, deleted or another workspace’s', async () => {
    expect(await listed('')).toEqual(['Off', 'Live', 'back\\slash', 'Müller', 'Support', 'Sales']);
  });

  test('an item has exactly the fields of the schema', async () => {
    const { body } = await app.api('get', '/agents?status=active');
    const [{ createdAt, updatedAt, ...item }] = body.items;
    expect(item).toEqual({
      publicId: ids.Live,
      name: 'Live',
      avatarUrl: null,
      status: 'active',
      draftVersionNumber: 2,
      publishedVersionNumber: 1,
    });
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(createdAt));
    expect({ ...body, items: 1 }).toEqual({ items: 1, page: 1, limit: 20, total: 1, totalPages: 1 });
  });

  test.each<[string, string[]]>([
    ['?includeArchived=true', ['Old', 'Off', 'Live', 'back\\slash', 'Müller', 'Support', 'Sales']],
    ['?includeArchived=false', ['Off', 'Live', 'back\\slash', 'Müller', 'Support', 'Sales']],
    ['?status=draft', ['back\\slash', 'Müller', 'Support', 'Sales']],
    ['?status=inactive', ['Off']],
    ['?status=archived', ['Old']],
    ['?status=archived&includeArchived=false', ['Old']],
    ['?status=active&status=archived', ['Old', 'Live']],
    ['?status=active&includeArchived=true', ['Live']],
    ['?search=SALES', ['Sales']],
    ['?search=questions', ['Support', 'Sales']],
    ['?search=m%C3%9CLLER', ['Müller']],
    ['?search=100%25', ['Sales']],
    ['?search=%25', ['Sales']],
    ['?search=questions_', ['Support']],
    ['?search=_', ['Support']],
    ['?search=%5C', ['back\\slash']],
    ['?search=%5Csl', ['back\\slash']],
    ["?search='", []],
    ['?search=nothing+like+it', []],
    ['?search=about+100%25+cotton', ['Sales']],
    ['?search=', ['Off', 'Live', 'back\\slash', 'Müller', 'Support', 'Sales']],
    ['?status=active&status=active', ['Live']],
    ['?status=active&status=archived&status=active&status=archived&status=active', ['Old', 'Live']],
    [`?${'categories=shop&'.repeat(12)}`, ['Live', 'Sales']],
    ['?categories=shop', ['Live', 'Sales']],
    ['?categories=Shop', ['Müller']],
    ['?categories=shop&categories=internal', ['Live', 'back\\slash', 'Sales']],
    ['?categories=sho', []],
    ['?categories=shop,public', []],
    ['?categories=shop&status=active', ['Live']],
    ['?categories=shop&includeArchived=true', ['Old', 'Live', 'Sales']],
    ['?categories=shop&search=questions', ['Sales']],
    ['?categories=shop&search=questions&status=archived&status=active', ['Old']],
  ])('%s lists %j', async (query, expected) => {
    expect(await listed(query)).toEqual(expected);
  });

  test('a category may contain commas, quotes, braces and backslashes', async () => {
    const odd = '{a,"b"\\} \'c';
    const { body } = await app
      .api('post', '/agents', app.stranger.apiKey)
      .send({ name: 'Odd', categories: [odd, 'NULL'] });
    for (const category of [odd, 'NULL']) {
      const found = await app.api('get', `/agents?categories=${encodeURIComponent(category)}`, app.stranger.apiKey);
      expect(found.body.items.map((item: { publicId: string }) => item.publicId)).toEqual([body.publicId]);
    }
  });

  test('pages list agents of the same instant once each, the newest id first', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const made: string[] = [];
    for (let i = 0; i < 11; i += 1)
      made.push((await app.api('post', '/agents', apiKey).send({ name: `Tie ${i}` })).body.publicId);
    const seen: string[] = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await app.api('get', `/agents?limit=4&page=${page}`, apiKey);
      expect({ ...body, items: body.items.length }).toEqual({
        items: [4, 4, 3, 0][page - 1],
        page,
        limit: 4,
        total: 11,
        totalPages: 3,
      });
      seen.push(...body.items.map((item: { publicId: string }) => item.publicId));
    }
    expect(seen).toEqual(made.toReversed());
  });

  test('a workspace without agents has no pages', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    expect((await app.api('get', '/agents', apiKey)).body).toEqual({
      items: [],
      page: 1,
      limit: 20,
      total: 0,
      totalPages: 0,
    });
  });
});

describe('400', () => {
  test.each(['status=published', 'status=', 'categories=', `search=${'a'.repeat(201)}`])('%s', async (query) => {
    const { status, body } = await app.api('get', `/agents?${query}`);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
