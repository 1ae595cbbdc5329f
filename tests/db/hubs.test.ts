import { newId } from '../../core/ids.ts';
import { findHubByName } from '../../db/queries/hubs/hubNames.ts';
import { ensureHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import { HubNames, RELEASED_NAME_MS } from '../../runtime/hubs/hubNames.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { TestClock } from '../support/http/app.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('fifty first requests at once make one hub, called like the workspace', async () => {
  const { workspaceId, db } = await database.seedWorkspace({ name: 'Acme' });
  const now = new Date('2026-03-01T10:00:00Z');
  const hubs = await Promise.all(Array.from({ length: 50 }, () => ensureHub(db, workspaceId, now)));
  expect(new Set(hubs.map(({ id }) => id)).size).toBe(1);
  expect(hubs[0]).toMatchObject({
    workspace_id: workspaceId,
    name: 'Acme',
    access_type: 'private',
    subdomain: null,
    default_plan_id: null,
    default_plan_name: null,
    created_at: now,
    updated_at: now,
  });
});

test('a hub is changed, and a workspace that does not exist gets none', async () => {
  const { workspaceId, db } = await database.seedWorkspace();
  const { id } = await ensureHub(db, workspaceId);
  const changed = await updateHubRow(db, workspaceId, { locale: 'de-DE', updated_at: new Date() });
  expect(changed).toMatchObject({ id, locale: 'de-DE' });
  const nobody = newId();
  await expect(ensureHub(database.database.forWorkspace(nobody), nobody)).rejects.toThrow('There is no workspace');
});

describe('names', () => {
  const names = (clock = new TestClock()) => new HubNames(database.database.keys, clock);

  async function give(
    name: string,
    rest: Partial<{ kind: 'domain'; token: string; verified_at: Date; released_at: Date }> = {},
  ) {
    const { workspaceId, db } = await database.seedWorkspace();
    await db
      .insertInto('hub_names')
      .values({ name, workspace_id: workspaceId, kind: 'subdomain', ...rest })
      .execute();
    return workspaceId;
  }

  test('lead to a hub while they are held and, if they are domains, verified', async () => {
    const { keys } = database.database;
    const held = await give('held');
    await give('gone', { released_at: new Date() });
    await give('unverified.example', { kind: 'domain', token: 'x' });
    const verified = await give('verified.example', { kind: 'domain', token: 'x', verified_at: new Date() });
    expect(await findHubByName(keys, 'held')).toMatchObject({ workspace_id: held, kind: 'subdomain' });
    expect(await findHubByName(keys, 'verified.example')).toMatchObject({ workspace_id: verified, kind: 'domain' });
    for (const name of ['gone', 'unverified.example', 'nobody'])
      expect(await findHubByName(keys, name)).toBeUndefined();
    await database.database.system
      .updateTable('workspaces')
      .set({ deleted_at: new Date() })
      .where('id', '=', held)
      .execute();
    expect(await findHubByName(keys, 'held')).toBeUndefined();
  });

  test('that were given up block others for 30 days', async () => {
    const clock = new TestClock();
    const owner = await give('released', { released_at: clock.now() });
    clock.advance(RELEASED_NAME_MS - 1);
    expect(await names(clock).blocker('released')).toMatchObject({ workspace_id: owner });
    clock.advance(1);
    expect(await names(clock).blocker('released')).toBeUndefined();
    await give('released');
    expect(await names(clock).blocker('released')).toMatchObject({ released_at: null });
  });
});
