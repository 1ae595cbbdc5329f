import type { KyselyPlugin } from 'kysely';
import { hashApiKey, mintApiKey } from '../../../core/apiKey.ts';
import { newId } from '../../../core/ids.ts';
import { insertApiKey } from '../../../db/queries/workspaces/apiKeys.ts';
import { Authenticator } from '../../../server/api/auth.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

/** An authenticator on the test's database, with a count of the statements that look keys up: in all, and at the same time. */
function countedAuthenticator() {
  const count = { lookups: 0, running: 0, most: 0 };
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (node.kind === 'SelectQueryNode') {
        count.lookups += 1;
        count.running += 1;
        count.most = Math.max(count.most, count.running);
      }
      return node;
    },
    async transformResult({ result }) {
      count.running -= 1;
      return result;
    },
  };
  return { count, authenticator: new Authenticator(app.database.database.system.withPlugin(plugin), clock) };
}

const outcome = (authenticator: Authenticator, key: string) =>
  authenticator.authenticate({ 'x-api-key': key }).then(
    ({ workspaceId }) => workspaceId,
    (error: { code: string }) => error.code,
  );

test('a flood of one unknown key asks the database once a second', async () => {
  const { count, authenticator } = countedAuthenticator();
  const key = mintApiKey();
  const flood = async () => new Set(await Promise.all(Array.from({ length: 50 }, () => outcome(authenticator, key))));
  expect(await flood()).toEqual(new Set(['INVALID_API_KEY']));
  expect(await flood()).toEqual(new Set(['INVALID_API_KEY']));
  expect(count.lookups).toBe(1);
  clock.advance(999);
  await flood();
  expect(count.lookups).toBe(1);
  clock.advance(2);
  await flood();
  expect(count.lookups).toBe(2);
});

test('a flood of different unknown keys shares a connection, and keys that were good before do not wait for it', async () => {
  const { count, authenticator } = countedAuthenticator();
  const { apiKey, workspaceId } = app.workspace;
  expect(await outcome(authenticator, apiKey)).toBe(workspaceId);
  clock.advance(6_000);
  count.lookups = 0;
  const flood = Array.from({ length: 1_500 }, () => outcome(authenticator, mintApiKey()));
  expect(await outcome(authenticator, apiKey)).toBe(workspaceId);
  // Its own statement, and no more of the flood than were under way.
  expect(count.lookups).toBeLessThanOrEqual(4);
  expect(new Set(await Promise.all(flood))).toEqual(new Set(['INVALID_API_KEY']));
  expect(count.lookups).toBeLessThanOrEqual(20);
  expect(count.most).toBeLessThanOrEqual(2);
});

test('a key that was tried before it existed works once it is created', async () => {
  const key = mintApiKey();
  const status = async () => (await app.api('get', '/health', key)).status;
  expect(await status()).toBe(401);
  const { system } = app.database.database;
  const { workspaceId } = app.workspace;
  await insertApiKey(system, { id: newId(), workspaceId, name: 'New', hash: hashApiKey(key), display: 'gsk_…' });
  // The clock stands still: only the notification can end the second in which it counts as unknown.
  await poll(status, (found) => found === 200);
});

test('a key that is added while its look-up is under way is not remembered as unknown', async () => {
  const { count, authenticator } = countedAuthenticator();
  const key = mintApiKey();
  const first = outcome(authenticator, key);
  authenticator.forgetUnknown();
  expect(await first).toBe('INVALID_API_KEY');
  await outcome(authenticator, key);
  expect(count.lookups).toBe(2);
});
