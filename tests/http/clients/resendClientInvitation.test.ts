import { newId } from '../../../core/ids.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { findLinkUser, useToken } from '../../../domain/hubs/sessions.ts';
import { openMailContent } from '../../../domain/mail/mailContent.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { storeSubdomain } from '../../support/hub/storedPlans.ts';
import { allMissing, answersForMissingClient, type Client, makeClientOf, readClient } from './clients.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = new TestClock();

let app: TestApp;
let subdomain: string;
beforeAll(async () => {
  app = await startTestApp({ clock });
  subdomain = await storeSubdomain(app.workspace);
});
afterAll(() => app.close());

const resend = (clientId: string, id: string | undefined) =>
  app.api('post', `/clients/${clientId}/invitations/${id}/resend`);
const invitationOf = ({ pendingInvitations }: Client) => pendingInvitations[0]?.publicId;

/** The links that were mailed to a user of the client, oldest first. */
async function mailed({ users }: Client): Promise<string[]> {
  const { workspaceId, db } = app.workspace;
  const rows = await db
    .selectFrom('mails')
    .selectAll()
    .where('recipient', '=', users[0]?.email ?? '')
    .orderBy('id')
    .execute();
  return rows.map((row) => {
    const { url } = openMailContent(
      app.service.runtime.secrets,
      { workspaceId, id: row.id },
      row.content ?? Buffer.alloc(0),
    ) as {
      url: string;
    };
    return url;
  });
}

const tokenOf = (url = '') => url.split('/').at(-1) ?? '';
const isGood = async (url: string | undefined) =>
  (await findLinkUser(
    app.workspace.db,
    { workspaceId: app.workspace.workspaceId, token: tokenOf(url), now: clock.now() },
    'invitation',
  )) !== undefined;

test('200: a new link is mailed, the earlier one works no more, and the days begin anew', async () => {
  const client = await makeClientOf(app, { sendInvitations: true });
  clock.advance(8 * DAY_MS);
  expect((await readClient(app, client.publicId)).pendingInvitations[0]?.isExpired).toBe(true);
  const { status, body } = await resend(client.publicId, invitationOf(client));
  expect(status).toBe(200);
  const expiresAt = new Date(clock.now().getTime() + 7 * DAY_MS).toISOString();
  expect(body).toEqual({ ...client.pendingInvitations[0], expiresAt, isExpired: false });
  expect((await readClient(app, client.publicId)).pendingInvitations).toEqual([body]);
  const [first, second, ...more] = await mailed(client);
  expect(more).toEqual([]);
  expect(second).toBe(`${app.origin}/hub/${subdomain}/accept/${tokenOf(second)}`);
  expect([await isGood(first), await isGood(second)]).toEqual([false, true]);
});

test('200: of several at once each mails a link, and one of the links works', async () => {
  const client = await makeClientOf(app);
  const answers = await Promise.all(Array.from({ length: 4 }, () => resend(client.publicId, invitationOf(client))));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const links = await mailed(client);
  expect(new Set(links).size).toBe(4);
  const good = await Promise.all(links.map(isGood));
  expect(good.filter(Boolean)).toHaveLength(1);
});

describe('404', () => {
  test('CLIENT_NOT_FOUND: unknown, deleted, and of another workspace', async () => {
    expect(await answersForMissingClient(app, (id) => resend(id, newId()))).toEqual(allMissing);
  });

  test('INVITATION_NOT_FOUND: unknown, of another client, and accepted', async () => {
    const [client, other] = [await makeClientOf(app, { sendInvitations: true }), await makeClientOf(app)];
    const [url] = await mailed(client);
    const { workspaceId, db } = app.workspace;
    await inTransaction(db, (trx) =>
      useToken(trx, { workspaceId, token: tokenOf(url), now: clock.now() }, 'invitation'),
    );
    const accepted = await readClient(app, client.publicId);
    expect(accepted.pendingInvitations).toEqual([]);
    expect(accepted.users[0]).toMatchObject({ completedOnboarding: true, lastSeenAt: clock.now().toISOString() });
    for (const id of [newId(), invitationOf(other), invitationOf(client)]) {
      const { status, body } = await resend(client.publicId, id);
      expect([status, body.code]).toEqual([404, 'INVITATION_NOT_FOUND']);
    }
    expect(await mailed(client)).toHaveLength(1);
  });
});
