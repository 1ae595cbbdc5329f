import { newId } from '../../../core/ids.ts';
import { inTransaction } from '../../../db/transaction.ts';
import {
  endSession,
  findLinkUser,
  findSession,
  newToken,
  TOKEN_LIFE_MS,
  useToken,
} from '../../../domain/hubs/sessions.ts';
import { forgetClientTokens } from '../../../jobs/upkeep.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { makeClient } from '../../support/hub/clients.ts';

const DAY_MS = 24 * 60 * 60_000;
const now = new Date('2026-03-01T12:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);

let database: TestDatabase;
let workspace: SeededWorkspace;
let stranger: SeededWorkspace;
beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await database.seedWorkspace();
  stranger = await database.seedWorkspace();
});
afterAll(() => database.drop());

const db = ({ workspaceId }: SeededWorkspace = workspace) => database.database.forWorkspace(workspaceId);

/** A user with a token of this kind. */
async function userWith(kind: 'invitation' | 'sign_in' | 'session') {
  const { clientId, userId } = await makeClient(database, workspace);
  const { workspaceId } = workspace;
  const { token, expiresAt } = await newToken(db(), { workspaceId, userId, kind, now });
  return { workspaceId, clientId, userId, token, expiresAt };
}

const use = (token: string, kind: 'invitation' | 'sign_in', at = now, by = workspace) =>
  inTransaction(db(by), (trx) => useToken(trx, { workspaceId: by.workspaceId, token, now: at }, kind));

describe('a link', () => {
  test('is used by one of many at once, and looking at it uses nothing', async () => {
    const { workspaceId, userId, token } = await userWith('invitation');
    for (const _ of [1, 2])
      expect((await findLinkUser(db(), { workspaceId, token, now }, 'invitation'))?.id).toBe(userId);
    const used = await Promise.all(Array.from({ length: 8 }, () => use(token, 'invitation')));
    expect(used.filter((user) => user?.id === userId)).toHaveLength(1);
    expect(used.filter((user) => user === undefined)).toHaveLength(7);
    const user = await db()
      .selectFrom('client_users')
      .select(['onboarded_at', 'last_seen_at'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow();
    expect(user).toEqual({ onboarded_at: now, last_seen_at: now });
  });

  test.each(['invitation', 'sign_in'] as const)(
    'of kind %s works until its last millisecond, in its hub and as its kind only',
    async (kind) => {
      const { token } = await userWith(kind);
      const end = TOKEN_LIFE_MS[kind];
      expect(await use(token, kind, later(end))).toBeUndefined();
      expect(await use(token, kind === 'sign_in' ? 'invitation' : 'sign_in')).toBeUndefined();
      expect(await use(token, kind, now, stranger)).toBeUndefined();
      expect(await use(token.toUpperCase(), kind)).toBeUndefined();
      expect(await use(token, kind, later(end - 1))).toBeDefined();
    },
  );

  test('of an invitation stops working when there is a newer one, and every other link when one was followed', async () => {
    const { workspaceId, userId, token } = await userWith('invitation');
    const newer = await newToken(db(), { workspaceId, userId, kind: 'invitation', now });
    const mailed = await newToken(db(), { workspaceId, userId, kind: 'sign_in', now });
    expect(await use(token, 'invitation')).toBeUndefined();
    expect(await use(mailed.token, 'sign_in')).toBeDefined();
    expect(await use(newer.token, 'invitation')).toBeUndefined();
  });
});

describe('a session', () => {
  const session = (token: string, at = now) =>
    findSession(db(), { workspaceId: workspace.workspaceId, token, now: at });

  test('lasts 30 days, and ends with its user, with its client and when the user signs out', async () => {
    const first = await userWith('session');
    expect((await session(first.token))?.user.id).toBe(first.userId);
    expect(await session(first.token, later(30 * DAY_MS))).toBeUndefined();
    await db().updateTable('client_users').set({ deleted_at: now }).where('id', '=', first.userId).execute();
    expect(await session(first.token)).toBeUndefined();
    const second = await userWith('session');
    await db().updateTable('clients').set({ deleted_at: now }).where('id', '=', second.clientId).execute();
    expect(await session(second.token)).toBeUndefined();
    const third = await userWith('session');
    await endSession(db(), { workspaceId: workspace.workspaceId, token: third.token, now });
    expect(await session(third.token)).toBeUndefined();
    expect(await session(newId())).toBeUndefined();
  });

  test('gets a new secret after a day, once, and the earlier one works for a minute more', async () => {
    const { token } = await userWith('session');
    expect((await session(token, later(DAY_MS - 1)))?.renewed).toBeUndefined();
    const found = await Promise.all(Array.from({ length: 5 }, () => session(token, later(DAY_MS))));
    const renewed = found.flatMap((each) => each?.renewed ?? []);
    expect(renewed).toEqual([{ token: expect.not.stringMatching(token), expiresAt: later(31 * DAY_MS) }]);
    expect(await session(token, later(DAY_MS + 59_999))).toBeDefined();
    expect(await session(token, later(DAY_MS + 60_000))).toBeUndefined();
    expect(await session(renewed[0]?.token ?? '', later(DAY_MS + 60_000))).toBeDefined();
  });

  test('notes when its user was seen at most once a minute', async () => {
    const { userId, token } = await userWith('session');
    const seen = async (at: Date) => {
      await session(token, at);
      const row = await db()
        .selectFrom('client_users')
        .select('last_seen_at')
        .where('id', '=', userId)
        .executeTakeFirstOrThrow();
      return row.last_seen_at;
    };
    expect(await seen(now)).toEqual(now);
    expect(await seen(later(60_000))).toEqual(now);
    expect(await seen(later(60_001))).toEqual(later(60_001));
  });
});

test('what has expired is removed, and nothing else', async () => {
  const old = await userWith('sign_in');
  const { token } = await userWith('session');
  const clock = { now: () => later(TOKEN_LIFE_MS.sign_in) };
  await forgetClientTokens.run({ database: database.database, clock } as never);
  const left = await db().selectFrom('client_tokens').select('kind').where('user_id', '=', old.userId).execute();
  expect(left).toEqual([]);
  expect(await findSession(db(), { workspaceId: workspace.workspaceId, token, now })).toBeDefined();
});
