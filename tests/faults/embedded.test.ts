import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { poll, until } from '../support/poll.ts';
import { demoFolder } from './demoFolder.ts';
import { call, cleanUp, expectPromptExit, json, startService } from './service.ts';

/** The embedded PostgreSQL is killed under a running service, and is started again. */

afterEach(cleanUp);

test('kill -9 of PostgreSQL: requests get 503 until it runs again, nothing acknowledged is lost, and all goes on', async () => {
  const { dataDir, key } = await demoFolder();
  const service = await startService({ GUILDHALL_DATA_DIR: dataDir });
  const { origin } = service;
  const postmaster = async () =>
    Number.parseInt(await readFile(join(dataDir, 'postgres/pgdata/postmaster.pid'), 'utf8').catch(() => ''), 10);
  const readiness = async () => (await fetch(`${origin}/readyz`)).status;

  const running = new AbortController();
  const outcomes = new Map<number, number>();
  const acknowledged: string[] = [];
  const retryAfter = new Set<string | null>();
  const clients = Array.from({ length: 4 }, async (_, i) => {
    for (let n = 0; !running.signal.aborted; n += 1) {
      const name = `Agent ${i}-${n}`;
      const answer = await call(origin, key, 'POST', '/agents', { name });
      await answer.text();
      outcomes.set(answer.status, (outcomes.get(answer.status) ?? 0) + 1);
      if (answer.status === 201) acknowledged.push(name);
      if (answer.status === 503) retryAfter.add(answer.headers.get('retry-after'));
    }
  });

  for (let round = 0; round < 2; round += 1) {
    await until(() => acknowledged.length > 20 * (round + 1));
    const seen = outcomes.get(503) ?? 0;
    const pid = await postmaster();
    process.kill(pid, 'SIGKILL');
    await until(() => (outcomes.get(503) ?? 0) > seen);
    await until(async () => (await readiness()) === 200);
    expect(await postmaster()).not.toBe(pid);
  }
  const before = acknowledged.length;
  await until(() => acknowledged.length > before + 5);
  running.abort();
  await Promise.all(clients);

  expect([...outcomes.keys()].sort()).toEqual([201, 503]);
  for (const seconds of retryAfter) expect(Number(seconds)).toBeGreaterThan(0);
  const stored = new Set<string>();
  for (let page = 1, more = true; more; page += 1) {
    const { items, totalPages } = await json(call(origin, key, 'GET', `/agents?limit=100&page=${page}`));
    for (const { name } of items) stored.add(name);
    more = page < totalPages;
  }
  expect(acknowledged.filter((name) => !stored.has(name))).toEqual([]);

  // The queue works over connections of its own.
  const made = await json(call(origin, key, 'POST', '/knowledge-sources', { name: 'A', textContent: 'Hello.' }));
  await poll(
    () => json(call(origin, key, 'GET', `/knowledge-sources/${made.publicId}`)),
    ({ processingStatus }: { processingStatus: string }) => processingStatus === 'COMPLETED',
  );
  service.child.kill('SIGTERM');
  await expectPromptExit(service);
  expect(service.output().stderr).toBe('');
});
