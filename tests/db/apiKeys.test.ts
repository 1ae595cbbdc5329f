import { displayApiKey, hasApiKeyChecksum, hashApiKey, isApiKeyFormat, mintApiKey } from '../../core/apiKey.ts';
import { newId } from '../../core/ids.ts';
import { apiKeyRevoked } from '../../db/events.ts';
import { findApiKeysByHash, revokeApiKey, selectApiKeys, touchApiKey } from '../../db/queries/workspaces/apiKeys.ts';
import { findWorkspace, insertWorkspace, selectWorkspaces } from '../../db/queries/workspaces/workspaces.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';

let setting: TestDatabase;

beforeAll(async () => {
  setting = await createTestDatabase();
});

afterAll(() => setting.drop());

describe('the form of a key', () => {
  test('is gsk_ and 40 base62 characters, different each time', () => {
    const keys = Array.from({ length: 200 }, mintApiKey);
    for (const key of keys) {
      expect(key).toMatch(/^gsk_[0-9A-Za-z]{40}$/);
      expect(isApiKeyFormat(key) && hasApiKeyChecksum(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(200);
  });

  test('any one changed character breaks the checksum', () => {
    const key = mintApiKey();
    for (let at = 'gsk_'.length; at < key.length; at += 1) {
      const other = key[at] === 'A' ? 'B' : 'A';
      expect(hasApiKeyChecksum(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
  });

  test.each(['', 'gsk_', 'gsk_short', ` ${'gsk_'.padEnd(44, 'a')}`, 'a'.repeat(100_000)])('%j is not a key', (text) => {
    expect(isApiKeyFormat(text)).toBe(false);
    expect(isApiKeyFormat(`${mintApiKey()}\n`)).toBe(false);
  });

  test('lists show its first and last characters only', () => {
    const key = mintApiKey();
    expect(displayApiKey(key)).toBe(`${key.slice(0, 6)}…${key.slice(-4)}`);
  });
});

describe('stored keys', () => {
  test('are found by hash, until they are revoked', async () => {
    const { apiKey, apiKeyId, workspaceId } = await setting.seedWorkspace();
    const { system } = setting.database;
    const [hash, unknown] = [hashApiKey(apiKey), hashApiKey(mintApiKey())];
    const limits = { request_limit: 256, turn_limit: 1000 };
    const owner = { id: apiKeyId, workspace_id: workspaceId, key_hash: hash, ...limits };
    expect(await findApiKeysByHash(system, [unknown, hash])).toEqual([owner]);
    expect(await findApiKeysByHash(system, [unknown])).toEqual([]);
    const revoked = await revokeApiKey(system, apiKeyId);
    expect(revoked?.revoked_at).toBeInstanceOf(Date);
    expect(await findApiKeysByHash(system, [hashApiKey(apiKey)])).toEqual([]);
    expect(await revokeApiKey(system, apiKeyId)).toEqual(revoked);
    expect(await revokeApiKey(system, newId())).toBeUndefined();
  });

  test('stop working when their workspace is deleted', async () => {
    const { apiKey, workspaceId } = await setting.seedWorkspace();
    const { system } = setting.database;
    await system.updateTable('workspaces').set({ deleted_at: new Date() }).where('id', '=', workspaceId).execute();
    expect(await findApiKeysByHash(system, [hashApiKey(apiKey)])).toEqual([]);
    expect(await findWorkspace(system, workspaceId)).toBeUndefined();
    expect((await selectWorkspaces(system)).map((row) => row.id)).not.toContain(workspaceId);
  });

  test('notify every listener when they are revoked', async () => {
    const { apiKeyId } = await setting.seedWorkspace();
    const { promise, resolve } = Promise.withResolvers<string>();
    const stop = await setting.database.listen(apiKeyRevoked.channel, resolve);
    await revokeApiKey(setting.database.system, apiKeyId);
    expect(await promise).toBe(apiKeyId);
    stop();
  });

  test('store their last use at most once a minute', async () => {
    const { apiKeyId, workspaceId } = await setting.seedWorkspace();
    const { system } = setting.database;
    const lastUse = async () => (await selectApiKeys(system, workspaceId))[0]?.last_used_at?.toISOString();
    expect(await lastUse()).toBeUndefined();
    await touchApiKey(system, apiKeyId, new Date('2026-01-01T00:00:00Z'));
    await touchApiKey(system, apiKeyId, new Date('2026-01-01T00:00:59Z'));
    expect(await lastUse()).toBe('2026-01-01T00:00:00.000Z');
    await touchApiKey(system, apiKeyId, new Date('2026-01-01T00:01:01Z'));
    expect(await lastUse()).toBe('2026-01-01T00:01:01.000Z');
  });

  test('are listed without their hashes, for one workspace or for all', async () => {
    const { apiKeyId, workspaceId } = await setting.seedWorkspace();
    const own = await selectApiKeys(setting.database.system, workspaceId);
    expect(own.map((row) => row.id)).toEqual([apiKeyId]);
    expect(own[0]).not.toHaveProperty('key_hash');
    expect((await selectApiKeys(setting.database.system)).length).toBeGreaterThan(1);
  });
});

describe('workspaces', () => {
  test('store their limits; there are none by default', async () => {
    const { system } = setting.database;
    const bare = await insertWorkspace(system, { id: newId(), name: 'Bare' });
    expect(bare).toMatchObject({ name: 'Bare', agent_limit: null, operation_limit: null, deleted_at: null });
    const limits = { agent_limit: 3, operation_limit: 100 };
    const limited = await insertWorkspace(system, { id: newId(), name: 'Limited', limits });
    expect(await findWorkspace(system, limited.id)).toMatchObject(limits);
  });
});
