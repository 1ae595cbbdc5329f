import { API_PREFIX } from '../../generated/operations.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/db/database.ts';
import { freePort } from '../support/freePort.ts';
import { poll } from '../support/poll.ts';
import { call, cleanUp, expectPromptExit, freshFolder, json, launch, startService } from './service.ts';

afterEach(cleanUp);

test('one process serves requests, another does the background work', async () => {
  const database = await createTestDatabase();
  const { apiKey } = await database.seedWorkspace();
  const env = { DATABASE_URL: database.url, GUILDHALL_DATA_DIR: await freshFolder() };
  const api = await startService({ ...env, GUILDHALL_ROLE: 'api' });
  const made = await json(call(api.origin, apiKey, 'POST', '/knowledge-sources', { name: 'A', textContent: 'Hello.' }));
  const path = `/knowledge-sources/${made.publicId}`;
  expect((await json(call(api.origin, apiKey, 'GET', path))).processingStatus).toBe('PENDING');

  const worker = await startService({ ...env, GUILDHALL_ROLE: 'worker' });
  await poll(
    () => json(call(api.origin, apiKey, 'GET', path)),
    ({ processingStatus }: { processingStatus: string }) => processingStatus === 'COMPLETED',
  );
  expect((await fetch(`${worker.origin}/readyz`)).status).toBe(200);
  const refused = await fetch(`${worker.origin}${API_PREFIX}/health`, { headers: { 'X-Api-Key': apiKey } });
  expect([refused.status, await refused.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  for (const path of ['/docs', '/openapi.json', '/openapi.yaml', '/mcp', '/mcp/agents/x', '/files/speech/a.mp3'])
    expect([path, (await fetch(worker.origin + path)).status]).toEqual([path, 404]);
  expect((await fetch(`${worker.origin}/metrics`)).status).toBe(200);
  expect(api.output().stdout).not.toContain('job done');
  expect(worker.output().stdout).not.toContain('demo');
  for (const service of [api, worker]) {
    service.child.kill('SIGTERM');
    await expectPromptExit(service);
  }
  await database.drop();
});

test('/metrics with a port of its own is on no other, in a worker as well', async () => {
  const database = await createTestDatabase();
  for (const role of ['all', 'worker']) {
    const port = await freePort();
    const service = await startService({
      DATABASE_URL: database.url,
      GUILDHALL_DATA_DIR: await freshFolder(),
      GUILDHALL_ROLE: role,
      GUILDHALL_METRICS_PORT: String(port),
    });
    const metrics = `http://127.0.0.1:${port}`;
    const answer = await fetch(`${metrics}/metrics`);
    expect([answer.status, answer.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
    expect(await answer.text()).toContain('process_cpu_seconds_total');
    expect((await fetch(`${service.origin}/metrics`)).status).toBe(404);
    for (const path of ['/openapi.json', '/docs', `${API_PREFIX}/health`]) {
      const missing = await fetch(metrics + path);
      expect([missing.status, await missing.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
    }
    const taken = launch({ DATABASE_URL: database.url, GUILDHALL_METRICS_PORT: String(port) });
    expect(await taken.ended).toMatchObject({ code: 1 });
    expect(taken.output().stderr.trim()).toMatch(
      new RegExp(`^GUILDHALL_METRICS_PORT ${port} cannot be used: .*EADDRINUSE`),
    );
    service.child.kill('SIGTERM');
    await expectPromptExit(service);
  }
  await database.drop();
});

test('a storage that does not answer is 503, and the uploaded source does not exist', async () => {
  const database = await createTestDatabase();
  const { apiKey } = await database.seedWorkspace();
  const storage = {
    GUILDHALL_STORAGE_URL: `s3://bucket?endpoint=${encodeURIComponent('http://127.0.0.1:1')}`,
    AWS_ACCESS_KEY_ID: 'AKIDTEST',
    AWS_SECRET_ACCESS_KEY: 'do-not-tell',
  };
  const env = { DATABASE_URL: database.url, GUILDHALL_DATA_DIR: await freshFolder(), ...storage };
  const service = await startService({ ...env, GUILDHALL_ROLE: 'api' });
  const answer = await call(service.origin, apiKey, 'POST', '/knowledge-sources', { name: 'A', textContent: 'Hello.' });
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'UNAVAILABLE' }]);
  expect(await json(call(service.origin, apiKey, 'GET', '/knowledge-sources'))).toMatchObject({ total: 0 });
  service.child.kill('SIGTERM');
  await expectPromptExit(service);
  expect(service.output().stdout).toContain('The storage did not answer to PUT');
  expect(service.output().stdout).not.toContain('do-not-tell');
  await database.drop();
});

test.each([
  ['GUILDHALL_ROLE', 'both'],
  ['GUILDHALL_SECRETS_KEY', 'hunter2'],
  ['GUILDHALL_STORAGE_URL', 'ftp://files'],
  ['COMPOSIO_BASE_URL', 'nonsense'],
  ['GUILDHALL_ZAPI_BASE_URL', 'nonsense'],
])('%s=%s stops the start with one line that names it', async (name, value) => {
  const database = await createEmptyDatabase();
  const env = { DATABASE_URL: database.url, GUILDHALL_DATA_DIR: await freshFolder(), COMPOSIO_API_KEY: 'k' };
  const service = launch({ ...env, [name]: value });
  expect(await service.ended).toEqual({ code: 1, signal: null });
  const lines = service.output().stderr.trim().split('\n');
  expect(lines).toEqual([expect.stringContaining(name)]);
  if (name === 'GUILDHALL_SECRETS_KEY') expect(lines[0]).not.toContain(value);
  await database.drop();
});
