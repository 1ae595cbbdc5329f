import { connectDatabase } from '../../db/connect.ts';
import { shareReads } from '../../db/sharedReads.ts';
import { tapDatabase } from '../../scripts/bench/wire.ts';
import { makeAgent } from '../support/agents/agents.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { startTestApp } from '../support/http/app.ts';

let base: TestDatabase;
beforeAll(async () => {
  base = await createTestDatabase();
});
afterAll(() => base.drop());

/** A read whose results the test gives, in the order in which they were begun. */
function controlled() {
  const begun: { id: string; end: (value: string) => void; fail: (error: Error) => void }[] = [];
  const read = shareReads(
    (_db, _workspaceId, id) =>
      new Promise<string>((resolve, reject) => {
        begun.push({ id, end: resolve, fail: reject });
      }),
  );
  return { begun, read: (id: string, db = base.database.system) => read(db, 'workspace', id) };
}

test('who asks while a read runs gets the next one, which begins afterwards', async () => {
  const { begun, read } = controlled();
  const first = read('a');
  const [second, third] = [read('a'), read('a')];
  expect(begun).toHaveLength(1);
  begun[0]?.end('old');
  expect(await first).toBe('old');
  expect(begun).toHaveLength(2);
  const fourth = read('a');
  begun[1]?.end('new');
  expect(await Promise.all([second, third])).toEqual(['new', 'new']);
  begun[2]?.end('newer');
  expect(await fourth).toBe('newer');
  expect(begun).toHaveLength(3);
});

test('a read after the last one has ended begins at once', async () => {
  const { begun, read } = controlled();
  const first = read('a');
  begun[0]?.end('old');
  await first;
  void read('a');
  expect(begun).toHaveLength(2);
});

test('a read that fails fails for those who share it, and the next one begins all the same', async () => {
  const { begun, read } = controlled();
  const first = read('a');
  const second = read('a');
  begun[0]?.fail(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  begun[1]?.end('there');
  expect(await second).toBe('there');
});

test('other rows and other handles do not wait', () => {
  const { begun, read } = controlled();
  void read('a');
  void read('b');
  void read('a', base.database.forWorkspace(crypto.randomUUID()));
  expect(begun.map(({ id }) => id)).toEqual(['a', 'b', 'a']);
});

test('many requests for one agent at once are few statements, and each answers what was written before it', async () => {
  const tap = await tapDatabase(base.url);
  const database = connectDatabase(tap.url, { poolSize: 20 });
  const app = await startTestApp({ database: { ...base, url: tap.url, database } });
  try {
    const { publicId } = await makeAgent(app);
    const get = async (): Promise<string> => (await app.api('get', `/agents/${publicId}`).expect(200)).body.name;
    await get();
    const { statements } = await tap.during(async () => {
      await Promise.all(Array.from({ length: 30 }, get));
    });
    expect(statements.filter(({ text }) => /from "agents"/.test(text)).length).toBeLessThan(15);
    for (let i = 0; i < 10; i += 1) {
      const earlier = [get(), get(), get()];
      await app
        .api('patch', `/agents/${publicId}`)
        .send({ name: `Name ${i}` })
        .expect(200);
      const later = await Promise.all([get(), get(), get()]);
      expect(later).toEqual(Array(3).fill(`Name ${i}`));
      await Promise.all(earlier);
    }
  } finally {
    await app.close();
    await database.end();
    await tap.close();
  }
});
