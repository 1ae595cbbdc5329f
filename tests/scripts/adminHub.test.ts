import { newId } from '../../core/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { admin, adminJson } from '../support/scripts/admin.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('the hub is shown, made if there is none, and gets a locale', async () => {
  const { workspaceId } = await database.seedWorkspace({ name: 'Acme' });
  const shown = await adminJson(database, 'hub', 'show', '--workspace', workspaceId);
  expect(shown).toMatchObject({ workspacePublicId: workspaceId, name: 'Acme', locale: 'en-US', hubUrl: null });
  const set = await adminJson(database, 'hub', 'set', '--workspace', workspaceId, '--locale', 'de-de');
  expect(set).toEqual({ ...shown, locale: 'de-DE' });
  expect((await admin(database, 'hub', 'show', '--workspace', workspaceId)).stdout).toContain('de-DE');
});

test.each([
  ['a locale that is no tag', ['hub', 'set', '--workspace', newId(), '--locale', 'german!']],
  ['a language that nobody knows', ['hub', 'set', '--workspace', newId(), '--locale', 'xx-YY']],
  ['no locale', ['hub', 'set', '--workspace', newId()]],
])('%s is refused', async (_name, args) => {
  expect(await admin(database, ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('--locale') });
});

test('a workspace that does not exist has no hub', async () => {
  expect(await admin(database, 'hub', 'show', '--workspace', newId())).toMatchObject({ code: 1 });
});
