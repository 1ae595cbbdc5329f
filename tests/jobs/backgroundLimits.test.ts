import { newId } from '../../core/ids.ts';
import { backgroundLimitReader } from '../../jobs/backgroundLimits.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { TestClock } from '../support/http/app.ts';

let setting: TestDatabase;
beforeAll(async () => {
  setting = await createTestDatabase();
});
afterAll(() => setting.drop());

test('the limit of a workspace, read anew after five seconds; without one, and of an unknown workspace, null', async () => {
  const { system } = setting.database;
  const clock = new TestClock();
  const limitOf = backgroundLimitReader(system, clock);
  const { workspaceId } = await setting.seedWorkspace({ limits: { background_limit: 4 } });
  expect(await limitOf(workspaceId)).toBe(4);
  await system.updateTable('workspaces').set({ background_limit: null }).where('id', '=', workspaceId).execute();
  expect(await limitOf(workspaceId)).toBe(4);
  clock.advance(5_100);
  expect(await limitOf(workspaceId)).toBeNull();
  expect(await limitOf(newId())).toBeNull();
  expect(await limitOf((await setting.seedWorkspace()).workspaceId)).toBe(256);
});
