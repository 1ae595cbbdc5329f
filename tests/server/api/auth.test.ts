import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

test('a revocation whose notification was lost takes effect after five seconds', async () => {
  const { apiKey, apiKeyId } = await app.database.seedWorkspace();
  const status = async () => (await app.api('get', '/health', apiKey)).status;
  expect(await status()).toBe(200);
  await app.database.database.system
    .updateTable('api_keys')
    .set({ revoked_at: clock.now() })
    .where('id', '=', apiKeyId)
    .execute();
  clock.advance(4_900);
  expect(await status()).toBe(200);
  clock.advance(200);
  expect(await status()).toBe(401);
});

test('the last use of a key is written once a minute', async () => {
  const { apiKey, apiKeyId } = await app.database.seedWorkspace();
  const lastUse = async () => {
    const keys = app.database.database.system.selectFrom('api_keys').select('last_used_at');
    return (await keys.where('id', '=', apiKeyId).executeTakeFirstOrThrow()).last_used_at?.getTime();
  };
  /** Uses the key, and waits for the note, which the request does not wait for. */
  const used = async (expected: number) => {
    expect((await app.api('get', '/health', apiKey)).status).toBe(200);
    await poll(lastUse, (found) => found === expected);
  };
  const first = clock.now().getTime();
  await used(first);
  clock.advance(30_000);
  await used(first);
  clock.advance(31_000);
  await used(first + 61_000);
});
