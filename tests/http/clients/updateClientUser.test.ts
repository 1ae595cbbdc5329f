import { newId } from '../../../core/ids.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allMissing, answersForMissingClient, makeClientOf, readClient, usersWith } from './clients.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const update = (clientId: string, userId: string | undefined, body: object) =>
  app.api('patch', `/clients/${clientId}/users/${userId}`).send(body);

describe('200', () => {
  test('the role, and the name when it is given', async () => {
    const { publicId, users } = await makeClientOf(app, { users: usersWith('admin', 'member') });
    const [first, second] = users;
    const changed = await update(publicId, second?.publicId, { role: 'admin', name: 'n'.repeat(150) });
    expect([changed.status, changed.body.users]).toEqual([
      200,
      [first, { ...second, role: 'admin', name: 'n'.repeat(150) }],
    ]);
    const demoted = await update(publicId, first?.publicId, { role: 'viewer' });
    expect(demoted.body.users[0]).toEqual({ ...first, role: 'viewer' });
    expect(demoted.body.pendingInvitations[0].role).toBe('viewer');
    expect(await readClient(app, publicId)).toEqual(demoted.body);
  });

  test('the last admin gets another name, and a client without admins changes its members', async () => {
    const { publicId, users } = await makeClientOf(app);
    expect((await update(publicId, users[0]?.publicId, { role: 'admin', name: 'Anew' })).body.users[0].name).toBe(
      'Anew',
    );
    const none = await makeClientOf(app, { users: usersWith('member') });
    expect((await update(none.publicId, none.users[0]?.publicId, { role: 'viewer' })).status).toBe(200);
  });
});

test.each([
  ['no role', { name: 'Ana' }, '/body/role'],
  ['a role that is none', { role: 'owner' }, '/body/role'],
  ['a blank name', { role: 'admin', name: ' ' }, '/body/name'],
  ['a long name', { role: 'admin', name: 'n'.repeat(151) }, '/body/name'],
  ['a name of two lines', { role: 'admin', name: 'Ana\r\nBcc: x@evil.example' }, '/body/name'],
  ['an email', { role: 'admin', email: 'x@client.example' }, '/body/email'],
])('400: %s', async (_what, body, path) => {
  const before = await makeClientOf(app);
  const answer = await update(before.publicId, before.users[0]?.publicId, body);
  expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  expect(await readClient(app, before.publicId)).toEqual(before);
});

describe('404', () => {
  test('CLIENT_NOT_FOUND: unknown, deleted, and of another workspace', async () => {
    expect(await answersForMissingClient(app, (id) => update(id, newId(), { role: 'admin' }))).toEqual(allMissing);
  });

  test('USER_NOT_FOUND: unknown, of another client, and removed', async () => {
    const [client, other] = [await makeClientOf(app, { users: usersWith('admin', 'member') }), await makeClientOf(app)];
    const removed = client.users[1]?.publicId;
    await app.api('delete', `/clients/${client.publicId}/users/${removed}`).expect(200);
    for (const id of [newId(), other.users[0]?.publicId, removed]) {
      const { status, body } = await update(client.publicId, id, { role: 'viewer' });
      expect([status, body.code]).toEqual([404, 'USER_NOT_FOUND']);
    }
  });
});

test('409 LAST_ADMIN: the last one keeps the role', async () => {
  const client = await makeClientOf(app, { users: usersWith('admin', 'editor') });
  const { status, body } = await update(client.publicId, client.users[0]?.publicId, {
    role: 'editor',
    name: 'Changed',
  });
  expect([status, body.code]).toEqual([409, 'LAST_ADMIN']);
  expect(await readClient(app, client.publicId)).toEqual(client);
});
