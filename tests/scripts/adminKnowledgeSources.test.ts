import { newId } from '../../core/ids.ts';
import { embedAll, shelfOf } from '../runtime/knowledge/searchSetting.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';
import { startEmbeddingServer } from '../support/servers/embeddingServer.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('list and show tell how far the vectors of sources are, and why a run failed', async () => {
  const workspace = await database.seedWorkspace();
  const server = await startEmbeddingServer();
  try {
    const embedded = await shelfOf(workspace, server.settings()).add(['One.', 'Two.'], { name: 'Whole' });
    server.fallback = { status: 401 };
    const failing = shelfOf(workspace, server.settings());
    const failed = await failing.add(['Three.'], { name: 'Refused' });
    const plain = await shelfOf(workspace).add(['Four.'], { name: 'Plain' });
    await embedAll(failing, failed).catch(() => {});
    const where = ['--workspace', workspace.workspaceId];
    const list: Record<string, unknown>[] = await adminJson(database, 'knowledge', 'list', ...where);
    const byId = new Map(list.map((one) => [one.knowledgeSourcePublicId, one]));
    expect(byId.get(embedded)).toMatchObject({ passages: 2, vectors: 2, embeddedAt: expect.any(String) });
    expect(byId.get(failed)).toMatchObject({
      passages: 1,
      vectors: 0,
      embeddedAt: null,
      embeddingFailure: expect.stringContaining('401'),
    });
    expect(byId.get(plain)).toMatchObject({ passages: 1, vectors: 0, embeddingModel: null });
    const { stdout } = await run(database, 'knowledge', 'list', ...where);
    expect(stdout).toMatch(/Whole +COMPLETED +2 +2 of 2\n/);
    expect(stdout).toMatch(/Refused +COMPLETED +1 +0 of 1, failed\n/);
    expect(await adminJson(database, 'knowledge', 'show', ...where, embedded)).toEqual(byId.get(embedded));
    const missing = await run(database, 'knowledge', 'show', ...where, newId());
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('has no knowledge source')]);
  } finally {
    await server.close();
  }
});
