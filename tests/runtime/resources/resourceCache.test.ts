import { ResourceCache } from '../../../runtime/resources/resourceCache.ts';
import type { Resources } from '../../../runtime/resources/resources.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';
import { gate } from '../../support/tools/mcpApi.ts';
import { counted, publishedWith } from '../agent/published.ts';

let app: TestApp;
let cache: ResourceCache;
let subject: Awaited<ReturnType<typeof publishedWith>>;
let toolId: string;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  cache = new ResourceCache();
  toolId = (await makeTool(app)).publicId;
  subject = await publishedWith(app, [['http_tool', toolId]]);
});

function get(db = app.workspace.db, changed: Partial<typeof subject> = {}): Promise<Resources> {
  return cache.get(db, app.workspace.workspaceId, app.service.runtime, { ...subject, ...changed });
}

const rename = (name: string) => app.api('patch', `/http-tools/${toolId}`).send({ name }).expect(200);
const nameIn = (resources: Resources) => resources.httpTools[0]?.row.name;

test('a second turn at the same revision reads nothing and gets the same object', async () => {
  const { db, statements } = counted(app.workspace.db);
  const first = await get(db);
  expect(await get(db)).toBe(first);
  expect(statements()).toBe(1);
});

test('after a change of the revision, everything is read again once', async () => {
  const { db, statements } = counted(app.workspace.db);
  await get(db);
  await rename('renamed_once');
  expect(nameIn(await get(db))).not.toBe('renamed_once');
  const { revision } = subject;
  expect(nameIn(await get(db, { revision: revision + 1 }))).toBe('renamed_once');
  await get(db, { revision: revision + 1 });
  expect(statements()).toBe(2);
});

test('turns that begin at the same time share one read', async () => {
  const { db, statements } = counted(app.workspace.db);
  const all = await Promise.all(Array.from({ length: 20 }, () => get(db)));
  expect([new Set(all).size, statements()]).toEqual([1, 1]);
});

test('each version, agent and workspace has its own entry', async () => {
  const { db, statements } = counted(app.workspace.db);
  await get(db);
  const other = { ...subject.snapshot, httpTools: [] };
  expect((await get(db, { versionNumber: 2, snapshot: other })).httpTools).toEqual([]);
  expect((await get(db, { agentId: app.workspace.workspaceId, snapshot: other })).httpTools).toEqual([]);
  const { db: theirDb, workspaceId } = app.stranger;
  expect((await cache.get(theirDb, workspaceId, app.service.runtime, subject)).httpTools).toEqual([]);
  expect((await get(db)).httpTools).toHaveLength(1);
  expect(statements()).toBe(3);
});

test('all waiting calls fail with the error of a read, and the error is not cached', async () => {
  let broken = true;
  const { db, statements } = counted(app.workspace.db, async () => {
    if (broken) throw new Error('the line is cut');
  });
  const results = await Promise.allSettled([get(db), get(db)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(statements()).toBe(1);
  broken = false;
  expect((await get(db)).httpTools).toHaveLength(1);
});

test('an older read that ends later does not replace a newer one', async () => {
  const { passed, open } = gate();
  const slow = counted(app.workspace.db, () => passed);
  const earlier = get(slow.db);
  // Statements run in order, so the read is done when the one after it is.
  await app.workspace.db.selectFrom('http_tools').select('id').execute();
  await rename('renamed_meanwhile');
  const revision = subject.revision + 1;
  expect(nameIn(await get(app.workspace.db, { revision }))).toBe('renamed_meanwhile');
  open();
  await earlier;
  const { db, statements } = counted(app.workspace.db);
  expect(nameIn(await get(db, { revision }))).toBe('renamed_meanwhile');
  expect(statements()).toBe(0);
});

test('the revision of a new workspace is 0', async () => {
  const { db, statements } = counted(app.stranger.db);
  const { workspaceId } = app.stranger;
  const at0 = { ...subject, revision: 0 };
  await cache.get(db, workspaceId, app.service.runtime, at0);
  await cache.get(db, workspaceId, app.service.runtime, at0);
  expect(statements()).toBe(1);
});

test('memory is bounded: the least recently used entries are dropped first', async () => {
  const { db, statements } = counted(app.workspace.db);
  const empty = { ...subject.snapshot, httpTools: [] };
  for (let versionNumber = 0; versionNumber <= 500; versionNumber += 1) {
    await get(db, { versionNumber, snapshot: empty });
  }
  const before = statements();
  await get(db, { versionNumber: 500, snapshot: empty });
  expect(statements()).toBe(before);
  await get(db, { versionNumber: 0, snapshot: empty });
  expect(statements()).toBe(before + 1);
});
