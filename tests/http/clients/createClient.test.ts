import { newId } from '../../../core/ids.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { storePlan, storeSubdomain, storeTrial } from '../../support/hub/storedPlans.ts';
import { clientFields, makeClientOf, readClient, usersWith } from './clients.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let app: TestApp;
let planId: string;
beforeAll(async () => {
  app = await startTestApp();
  planId = await storePlan(app.workspace, { credits: { extra_credits_amount: 20 } });
});
afterAll(() => app.close());

const create = (fields: Parameters<typeof clientFields>[0] = {}, key?: string) =>
  app.api('post', '/clients', key).send(clientFields(fields));
const total = async (key?: string) => (await app.api('get', '/clients', key)).body.total;
const mails = () => app.workspace.db.selectFrom('mails').select(['kind', 'recipient', 'recipient_name']).execute();

/** Nothing is left of a request that was refused. */
async function refused(fields: Parameters<typeof clientFields>[0], status: number, code: string, path?: string) {
  const before = [await total(), (await mails()).length];
  const answer = await create(fields);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  if (path) expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  expect([await total(), (await mails()).length]).toEqual(before);
  const users = await app.workspace.db
    .selectFrom('client_users')
    .select('id')
    .where('client_id', 'not in', (eb) => eb.selectFrom('clients').select('id'))
    .execute();
  expect(users).toEqual([]);
}

describe('201', () => {
  test('with a plan it is active, with the credits of the plan for a month from now', async () => {
    const users = usersWith('admin', 'member', 'viewer');
    const { status, body } = await create({ workspaceName: 'Northwind', users, planPublicId: planId });
    const now = app.clock.now();
    const end = new Date(now);
    end.setUTCMonth(end.getUTCMonth() + 1);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      workspaceName: 'Northwind',
      subscriptionStatus: 'active',
      plan: {
        publicId: planId,
        creditsIncluded: 120,
        billingType: 'recurring',
        billingIntervalMonths: 1,
        priceCents: 4900,
      },
      pendingPlan: null,
      creditsBalance: 120,
      extraCreditsBalance: 0,
      creditsUsedThisPeriod: 0,
      unlimitedCredits: false,
      currentPeriodStart: now.toISOString(),
      seatsLimit: 3,
      usersCount: 3,
      createdAt: now.toISOString(),
    });
    expect(body.users.map(({ publicId: _, ...user }: { publicId: string }) => user)).toEqual(
      users.map((user) => ({ ...user, completedOnboarding: false, lastSeenAt: null })),
    );
    expect(body.currentPeriodEnd > body.currentPeriodStart).toBe(true);
    expect(body.nextCreditRenewalAt).toBe(body.currentPeriodEnd);
    expect(await readClient(app, body.publicId)).toEqual(body);
  });

  test('without a plan it waits for one, and nothing limits its users', async () => {
    const { status, body } = await create({
      users: usersWith('viewer', 'viewer', 'viewer', 'viewer'),
      planPublicId: null,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      subscriptionStatus: 'pending_onboarding',
      plan: null,
      currentPeriodStart: null,
      currentPeriodEnd: null,
      nextCreditRenewalAt: null,
      seatsLimit: null,
      usersCount: 4,
      creditsBalance: 0,
    });
  });

  test('each user has an invitation for 7 days, and nothing is mailed unasked', async () => {
    const before = (await mails()).length;
    const { publicId, pendingInvitations, users } = await makeClientOf(app, { users: usersWith('admin', 'editor') });
    const expiresAt = new Date(app.clock.now().getTime() + 7 * DAY_MS).toISOString();
    expect(pendingInvitations).toEqual(
      users.map(({ name, email, role }) => ({
        publicId: expect.any(String),
        name,
        email,
        role,
        createdAt: app.clock.now().toISOString(),
        expiresAt,
        isExpired: false,
      })),
    );
    expect((await mails()).length).toBe(before);
    (app.clock as { advance(ms: number): void } & TestApp['clock']).advance(7 * DAY_MS);
    expect((await readClient(app, publicId)).pendingInvitations.map(({ isExpired }) => isExpired)).toEqual([
      true,
      true,
    ]);
  });

  test('invitations are mailed on request, once for each user, if the hub has a page', async () => {
    const { workspaceId, db, apiKey } = await app.database.seedWorkspace();
    const workspace = { workspaceId, db };
    const sent = () =>
      db.selectFrom('mails').select(['kind', 'recipient', 'recipient_name']).orderBy('recipient').execute();
    const users = usersWith('admin', 'editor');
    await makeClientOf(app, { users, sendInvitations: true }, apiKey);
    expect(await sent()).toEqual([]);
    await storeSubdomain(workspace);
    await makeClientOf(app, { users, sendInvitations: true }, apiKey);
    expect(await sent()).toEqual(
      users.map(({ name, email }) => ({ kind: 'invitation', recipient: email, recipient_name: name })),
    );
  });

  test('a trial is on the plan of the hub, whatever plan is asked for, and has its days', async () => {
    const { workspaceId, db, apiKey } = await app.database.seedWorkspace();
    const trialId = await storePlan({ workspaceId, db }, { name: 'Trial plan' });
    await storeTrial({ workspaceId, db }, trialId, 10);
    const body = await makeClientOf(app, { inviteToTrial: true, planPublicId: newId() }, apiKey);
    expect(body).toMatchObject({
      subscriptionStatus: 'trialing',
      plan: { publicId: trialId },
      creditsBalance: 100,
      nextCreditRenewalAt: null,
    });
    expect(body.currentPeriodEnd).toBe(new Date(app.clock.now().getTime() + 10 * DAY_MS).toISOString());
  });

  test('the overrides replace the credits and the end of the first period', async () => {
    const periodEndOverride = new Date(app.clock.now().getTime() + 50 * DAY_MS).toISOString();
    const body = await makeClientOf(app, { planPublicId: planId, creditsOverride: 7, periodEndOverride });
    expect(body).toMatchObject({ creditsBalance: 7, currentPeriodEnd: periodEndOverride });
    expect(await makeClientOf(app, { planPublicId: planId, creditsOverride: 0 })).toMatchObject({ creditsBalance: 0 });
    const most = await makeClientOf(app, { planPublicId: planId, creditsOverride: 2_147_483_647 });
    expect(most.creditsBalance).toBe(2_147_483_647);
    expect(
      await makeClientOf(app, { planPublicId: planId, creditsOverride: null, periodEndOverride: null }),
    ).toMatchObject({ creditsBalance: 120 });
  });

  test('an inactive plan can be given, and unlimited credits are no balance', async () => {
    const id = await storePlan(app.workspace, {
      status: 'inactive',
      unlimited_credits: true,
      billing_type: 'one_time',
      billing_interval_months: 0,
    });
    expect(await makeClientOf(app, { planPublicId: id, creditsOverride: 9 })).toMatchObject({
      subscriptionStatus: 'active',
      unlimitedCredits: true,
      creditsBalance: 0,
      currentPeriodEnd: null,
      nextCreditRenewalAt: null,
    });
  });

  test('one email may be a user of several clients, and addresses of odd forms are kept as they are', async () => {
    const users = [
      { name: 'O\'Neil, "Al" <b>', email: "o'neil+tag_x.y@Sub.Example.co.UK", role: 'admin' as const },
      { name: '山田 🦊', email: 'a@xn--bcher-kva.example', role: 'member' as const },
      {
        name: 'Long',
        email: `${'l'.repeat(64)}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(57)}.io`,
        role: 'viewer' as const,
      },
    ];
    for (const workspaceName of ['One of two', 'Two of two']) {
      const body = await makeClientOf(app, { workspaceName, users });
      expect(body.users.map(({ name, email, role }) => ({ name, email, role }))).toEqual(users);
    }
  });
});

describe('400', () => {
  const user = (fields: object) => ({
    users: [{ name: 'Ana', email: 'ana@client.example', role: 'admin' as const, ...fields }],
  });
  test.each([
    ['no users', { users: [] }, '/body/users'],
    ['an empty name', { workspaceName: '' }, '/body/workspaceName'],
    ['a blank name', { workspaceName: '  ' }, '/body/workspaceName'],
    ['a long name', { workspaceName: 'n'.repeat(151) }, '/body/workspaceName'],
    ['a name of two lines', { workspaceName: 'Acme\r\nBcc: x@evil.example' }, '/body/workspaceName'],
    ['a user without a name', user({ name: ' ' }), '/body/users/0/name'],
    ['a user with a long name', user({ name: 'n'.repeat(256) }), '/body/users/0/name'],
    ['a user whose name has two lines', user({ name: 'Ana\nBcc: x@evil.example' }), '/body/users/0/name'],
    ['a role that is none', user({ role: 'owner' as 'admin' }), '/body/users/0/role'],
    ['creditsOverride below 0', { creditsOverride: -1 }, '/body/creditsOverride'],
    ['creditsOverride over int32', { creditsOverride: 2_147_483_648 }, '/body/creditsOverride'],
    ['half a credit', { creditsOverride: 0.5 }, '/body/creditsOverride'],
    ['credits without a plan', { creditsOverride: 1 }, '/body/creditsOverride'],
    ['a period without a plan', { periodEndOverride: '2999-01-01T00:00:00Z' }, '/body/periodEndOverride'],
    ['a day that is none', { periodEndOverride: '2999-02-30T00:00:00Z' }, '/body/periodEndOverride'],
  ])('%s: nothing is created', (_what, fields, path) => refused(fields, 400, 'VALIDATION_ERROR', path));

  test.each([
    '',
    'ana',
    'ana@',
    '@client.example',
    'ana@client',
    'ana @client.example',
    ' ana@client.example',
    'ana@client.example ',
    'ana@client.example\r\nBcc: x@evil.example',
    'ana@client.example\n',
    'ana@client.example,bo@client.example',
    '"ana"@client.example',
    'Ana <ana@client.example>',
    'ana..b@client.example',
    '.ana@client.example',
    'ana@-client.example',
    'ana@client..example',
    'josé@client.example',
    'ana@bücher.example',
    'ana@[127.0.0.1]',
    'ana\0@client.example',
    `${'l'.repeat(65)}@client.example`,
    `ana@${'d'.repeat(64)}.example`,
    `ana@${'d.'.repeat(124)}example`,
  ])('%j is no email address', (email) => refused(user({ email }), 400, 'VALIDATION_ERROR', '/body/users/0/email'));

  test('a period that ends now or earlier, or in a second that clocks here do not have', async () => {
    for (const periodEndOverride of [app.clock.now().toISOString(), '1999-01-01T00:00:00Z', '2999-06-30T23:59:60Z'])
      await refused({ planPublicId: planId, periodEndOverride }, 400, 'VALIDATION_ERROR', '/body/periodEndOverride');
  });

  test('one email twice, whatever its case', async () => {
    const [first, second] = usersWith('admin', 'member');
    if (!first || !second) throw new Error('two users');
    const users = [first, { ...second, email: first.email.toUpperCase() }];
    await refused({ users }, 400, 'VALIDATION_ERROR', '/body/users/1/email');
  });

  test('more than 100 users', () =>
    refused(
      { users: usersWith(...Array.from({ length: 101 }, () => 'viewer' as const)) },
      400,
      'VALIDATION_ERROR',
      '/body/users',
    ));
});

describe('404 PLAN_NOT_FOUND', () => {
  test('a plan that nobody has, a deleted one and one of another workspace', async () => {
    const deleted = await storePlan(app.workspace, { deleted_at: new Date() });
    const foreign = await storePlan(app.stranger);
    for (const planPublicId of [newId(), deleted, foreign]) await refused({ planPublicId }, 404, 'PLAN_NOT_FOUND');
  });
});

describe('409', () => {
  test('a name is unique in its hub, whatever its case', async () => {
    await makeClientOf(app, { workspaceName: 'Ünique Name' });
    await refused({ workspaceName: 'üNIQUE name' }, 409, 'CLIENT_NAME_TAKEN');
    await makeClientOf(app, { workspaceName: 'Ünique Name' }, app.stranger.apiKey);
  });

  test('of many requests at once one gets the name', async () => {
    const before = await total();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => create({ workspaceName: i % 2 ? 'Race' : 'rACE' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 11 }, () => 409)]);
    expect(await total()).toBe(before + 1);
  });

  test('a plan has as many users as seats', async () => {
    const seats = usersWith('admin', 'viewer', 'viewer', 'viewer');
    await refused({ planPublicId: planId, users: seats }, 409, 'SEATS_LIMIT_REACHED');
    expect((await makeClientOf(app, { planPublicId: planId, users: seats.slice(1) })).usersCount).toBe(3);
  });
});

describe('422 TRIAL_NOT_ENABLED', () => {
  test('without a trial, and when its plan was deleted', async () => {
    await refused({ inviteToTrial: true, planPublicId: planId }, 422, 'TRIAL_NOT_ENABLED');
    const trialId = await storePlan(app.workspace);
    await storeTrial(app.workspace, trialId);
    await app.workspace.db.updateTable('plans').set({ deleted_at: new Date() }).where('id', '=', trialId).execute();
    await refused({ inviteToTrial: true }, 422, 'TRIAL_NOT_ENABLED');
  });
});
