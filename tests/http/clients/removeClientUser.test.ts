import { newId } from '../../../core/ids.ts';
import { newToken } from '../../../domain/hubs/sessions.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allMissing, answersForMissingClient, type Client, makeClientOf, readClient, usersWith } from './clients.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (clientId: string, userId: string | undefined) =>
  app.api('delete', `/clients/${clientId}/users/${userId}`);
const userAt = ({ users }: Client, index: number) => users[index]?.publicId ?? '';

describe('200', () => {
  test('the user, the invitation, the sessions and the links are gone, and those of others stay', async () => {
    const { workspaceId, db } = app.workspace;
    const client = await makeClientOf(app, { users: usersWith('admin', 'member') });
    for (const index of [0, 1])
      for (const kind of ['session', 'sign_in'] as const)
        await newToken(db, { workspaceId, userId: userAt(client, index), kind, now: app.clock.now() });
    const { status, body } = await remove(client.publicId, userAt(client, 1));
    expect(status).toBe(200);
    expect(body).toEqual({
      ...client,
      usersCount: 1,
      users: [client.users[0]],
      pendingInvitations: [client.pendingInvitations[0]],
    });
    expect(await readClient(app, client.publicId)).toEqual(body);
    const tokens = await db
      .selectFrom('client_tokens')
      .select('user_id')
      .where(
        'user_id',
        'in',
        client.users.map(({ publicId }) => publicId),
      )
      .execute();
    expect(tokens.map(({ user_id }) => user_id)).toEqual(Array.from({ length: 3 }, () => userAt(client, 0)));
    const resent = await app.api(
      'post',
      `/clients/${client.publicId}/invitations/${client.pendingInvitations[1]?.publicId}/resend`,
    );
    expect([resent.status, resent.body.code]).toEqual([404, 'INVITATION_NOT_FOUND']);
  });

  test('one of two admins may go, and all members', async () => {
    const client = await makeClientOf(app, { users: usersWith('admin', 'admin', 'viewer') });
    expect((await remove(client.publicId, userAt(client, 0))).status).toBe(200);
    expect((await remove(client.publicId, userAt(client, 2))).body.usersCount).toBe(1);
  });
});

describe('404', () => {
  test('CLIENT_NOT_FOUND: unknown, deleted, and of another workspace', async () => {
    expect(await answersForMissingClient(app, (id) => remove(id, newId()))).toEqual(allMissing);
  });

  test('USER_NOT_FOUND: unknown, of another client, and removed before', async () => {
    const [client, other] = [await makeClientOf(app, { users: usersWith('admin', 'member') }), await makeClientOf(app)];
    await remove(client.publicId, userAt(client, 1)).expect(200);
    for (const id of [newId(), userAt(other, 0), userAt(client, 1)]) {
      const { status, body } = await remove(client.publicId, id);
      expect([status, body.code]).toEqual([404, 'USER_NOT_FOUND']);
    }
  });
});

describe('409 LAST_ADMIN', () => {
  test('the last one stays, though others are users', async () => {
    const client = await makeClientOf(app, { users: usersWith('admin', 'editor') });
    const { status, body } = await remove(client.publicId, userAt(client, 0));
    expect([status, body.code]).toEqual([409, 'LAST_ADMIN']);
    expect(await readClient(app, client.publicId)).toEqual(client);
  });

  test('of admins who are removed and demoted at once, one stays, in each of 20 rounds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const client = await makeClientOf(app, { users: usersWith('admin', 'admin', 'admin', 'member') });
      const answers = await Promise.all([
        remove(client.publicId, userAt(client, 0)),
        app.api('patch', `/clients/${client.publicId}/users/${userAt(client, 1)}`).send({ role: 'viewer' }),
        remove(client.publicId, userAt(client, 2)),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409]);
      const { users } = await readClient(app, client.publicId);
      expect(users.filter(({ role }) => role === 'admin')).toHaveLength(1);
    }
  });
});
