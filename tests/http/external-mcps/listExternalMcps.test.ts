import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { readMcp, storeMcp } from '../../support/tools/mcpApi.ts';

let app: TestApp;
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startTestApp();
  const rows = [
    ['Weather', 'CONNECTED'],
    ['100% Météo', 'ERROR'],
    ['weather_too', 'PENDING'],
    ['back\\slash', 'CONNECTED'],
    ['Late', 'EXPIRED'],
    ['Asks', 'PENDING_AUTHORIZATION'],
    ['Gone', 'CONNECTED'],
  ] as const;
  for (const [index, [name, status]] of rows.entries()) {
    const created_at = new Date(Date.UTC(2026, 0, 1, 0, 0, index));
    const error_message = status === 'ERROR' ? 'It did not answer.' : null;
    ids[name] = await storeMcp(app.workspace, { name, status, created_at, error_message });
  }
  await app.api('delete', `/external-mcps/${ids.Gone}`).expect(204);
  await storeMcp(app.stranger, { name: 'Foreign weather' });
});
afterAll(() => app.close());

const list = (query = '', key?: string) => app.api('get', `/external-mcps${query}`, key);

describe('200', () => {
  test('the newest first, without deleted servers and those of other workspaces', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    const names = body.items.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['Asks', 'Late', 'back\\slash', 'weather_too', '100% Météo', 'Weather']);
    expect({ ...body, items: 0 }).toEqual({ items: 0, page: 1, limit: 20, total: 6, totalPages: 1 });
  });

  test('an item is what getExternalMcp shows', async () => {
    const { body } = await list('?status=ERROR');
    expect(body.items).toEqual([await readMcp(app, ids['100% Météo'] ?? '')]);
    expect(body.items[0].errorMessage).toBe('It did not answer.');
  });

  test.each<[string, string[]]>([
    ['?status=CONNECTED', ['back\\slash', 'Weather']],
    ['?status=PENDING', ['weather_too']],
    ['?status=EXPIRED', ['Late']],
    ['?status=PENDING_AUTHORIZATION', ['Asks']],
    ['?search=WEATHER', ['weather_too', 'Weather']],
    ['?search=m%C3%89T%C3%89O', ['100% Météo']],
    ['?search=%25', ['100% Météo']],
    ['?search=_', ['weather_too']],
    ['?search=%5C', ['back\\slash']],
    ['?search=weather&status=CONNECTED', ['Weather']],
    ['?search=nothing', []],
  ])('%s lists %j', async (query, expected) => {
    const { body } = await list(query);
    expect(body.items.map(({ name }: { name: string }) => name)).toEqual(expected);
    expect(body.total).toBe(expected.length);
  });

  test('pages of servers with one creation time show each server once, and a page beyond the last is empty', async () => {
    const workspace = await app.database.seedWorkspace();
    const created_at = new Date();
    const made: string[] = [];
    for (let i = 0; i < 5; i += 1) made.push(await storeMcp(workspace, { created_at }));
    const seen: string[] = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await list(`?limit=2&page=${page}`, workspace.apiKey);
      expect({ ...body, items: body.items.length }).toEqual({
        items: [2, 2, 1, 0][page - 1],
        page,
        limit: 2,
        total: 5,
        totalPages: 3,
      });
      seen.push(...body.items.map(({ publicId }: { publicId: string }) => publicId));
    }
    expect(seen).toEqual(made.toReversed());
  });
});

describe('400', () => {
  test.each(['status=connected', 'status=', `search=${'a'.repeat(256)}`, 'limit=101'])('%s', async (query) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
