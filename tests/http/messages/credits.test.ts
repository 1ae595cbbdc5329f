import { newId } from '../../../core/ids.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { closeIncludedLots, grantCredits, setAccountTerms } from '../../../domain/credits/credits.ts';
import type { Clients } from '../../../generated/db.ts';
import { runFollowUp } from '../../../runtime/turn/followUp.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { Stream } from '../../support/http/stream.ts';
import { makePayingClient } from '../../support/hub/payingClients.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { FOLLOWS_UP } from '../../support/turns/followUps.ts';
import { publishedAgent, send } from './turns.ts';

let server: ModelServer;
let app: TestApp;
let clock: TestClock;
let agentId: string;
let clientId: string;

beforeAll(async () => {
  server = await startModelServer();
  clock = new TestClock();
  app = await startTestApp({ models: server.settings(), clock });
  agentId = await publishedAgent(app);
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await server.close();
});

const withClient = async (options: Parameters<typeof makePayingClient>[1]) => {
  clientId = await makePayingClient(app.workspace, options);
};
const metadata = () => ({ clientPublicId: clientId });
const ask = (conversationId?: string) =>
  send(
    app,
    agentId,
    conversationId ? { content: 'More.', conversationId } : { content: 'Hello.', metadata: metadata() },
  );
const open = (body: object) =>
  fetch(`${app.origin}/public/api/v1/agents/${agentId}/messages/stream`, {
    method: 'POST',
    headers: { 'X-Api-Key': app.workspace.apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const begin = async (): Promise<string> => (await ask().expect(200)).body.conversationId;

const account = async (id = clientId) =>
  await app.workspace.db
    .selectFrom('credit_accounts')
    .select(['included', 'extra', 'reserved', 'used_this_period as used'])
    .where('client_id', '=', id)
    .executeTakeFirstOrThrow();
const uses = async () =>
  await app.workspace.db
    .selectFrom('credit_entries as e')
    .leftJoin('credit_lots as l', 'l.id', 'e.lot_id')
    .select(['l.grant_key as lot', 'e.amount', 'e.turn_id', 'e.key', 'e.message_id'])
    .where('e.client_id', '=', clientId)
    .where('e.kind', '=', 'use')
    .orderBy('e.created_at')
    .orderBy('e.amount')
    .execute();
const lots = async () => {
  const rows = await app.workspace.db
    .selectFrom('credit_lots')
    .select(['grant_key', 'remaining'])
    .where('client_id', '=', clientId)
    .execute();
  return Object.fromEntries(rows.map(({ grant_key, remaining }) => [grant_key, remaining]));
};
const grant = (source: 'plan' | 'package' | 'extra' | 'grant', amount: number, key: string, expiresAt: Date | null) =>
  inTransaction(app.workspace.db, (trx) =>
    grantCredits(trx, {
      workspaceId: app.workspace.workspaceId,
      clientId,
      source,
      amount,
      key,
      expiresAt,
      now: clock.now(),
    }),
  );
const setStatus = (status: Clients['status']) =>
  app.workspace.db.updateTable('clients').set({ status }).where('id', '=', clientId).execute();
const reservations = () => app.workspace.db.selectFrom('credit_reservations').select('turn_id').execute();
const inDays = (days: number) => new Date(clock.now().getTime() + days * 86_400_000);

describe('200', () => {
  test('a message of a conversation that names a client costs it one credit, and so do the next ones', async () => {
    await withClient({ credits: 5 });
    const conversationId = await begin();
    await ask(conversationId).expect(200);
    await send(app, agentId, { content: 'More.', conversationId, metadata: { clientPublicId: newId() } }).expect(200);
    expect(await account()).toEqual({ included: 2, extra: 0, reserved: 0, used: 3 });
    expect(await lots()).toEqual({ first: 2 });
    const entries = await uses();
    const messages = await app.workspace.db
      .selectFrom('messages')
      .select(['id', 'turn_id'])
      .where('conversation_id', '=', conversationId)
      .where('cost_ops', '=', 1)
      .execute();
    expect(entries.map(({ amount }) => amount)).toEqual([-1, -1, -1]);
    expect(new Map(entries.map((entry) => [entry.message_id, entry.turn_id]))).toEqual(
      new Map(messages.map(({ id, turn_id }) => [id, turn_id])),
    );
    expect(await reservations()).toEqual([]);
  });

  test('a conversation that names none belongs to nobody', async () => {
    await withClient({ credits: 5 });
    const { body } = await send(app, agentId, { content: 'Hello.' }).expect(200);
    await ask(body.conversationId).expect(200);
    await send(app, agentId, { content: 'M', conversationId: body.conversationId, metadata: metadata() }).expect(200);
    expect(await account()).toEqual({ included: 5, extra: 0, reserved: 0, used: 0 });
  });

  test('a conversation of a client is found to be one, also by an agent that knows of no client', async () => {
    const another = await app.database.seedWorkspace();
    const own = await publishedAgent(app, {}, another.apiKey);
    await send(app, own, { content: 'Warm.' }, another.apiKey).expect(200);
    clientId = await makePayingClient(another, { credits: 5 });
    const { body } = await send(app, own, { content: 'Hello.', metadata: metadata() }, another.apiKey).expect(200);
    const { conversationId } = body;
    await send(app, own, { content: 'More.', conversationId }, another.apiKey).expect(200);
    const left = await another.db.selectFrom('credit_accounts').select('included').execute();
    expect(left).toEqual([{ included: 3 }]);
  });

  test('included credits are used before bought ones; of each the soonest expiring first, and granted before paid', async () => {
    await withClient({ mayUseExtra: true });
    await grant('extra', 1, 'bought', inDays(1));
    await grant('plan', 1, 'plan without expiry', null);
    await grant('plan', 1, 'plan', inDays(30));
    await grant('package', 1, 'package', inDays(30));
    await grant('grant', 1, 'grant', inDays(10));
    for (let each = 0; each < 5; each += 1) {
      await ask().expect(200);
      clock.advance(1000);
    }
    expect((await uses()).map(({ lot }) => lot)).toEqual(['grant', 'package', 'plan', 'plan without expiry', 'bought']);
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 5 });
    await ask().expect(429);
  });

  test('a client without a limit reserves nothing and has its messages counted', async () => {
    await withClient({ isUnlimited: true });
    server.script({ silence: true });
    const running = send(app, agentId, { content: 'Slow.', metadata: metadata() }).then((r) => r);
    await server.received(1);
    expect(await reservations()).toEqual([]);
    server.cut();
    expect((await running).status).toBe(502);
    await ask().expect(200);
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 1 });
    expect(await uses()).toMatchObject([{ lot: null, amount: -1 }]);
  });

  test('a turn is not cut when its lots are closed while it runs, and takes from those that came in their place', async () => {
    await withClient({});
    await grant('plan', 1, 'p1', inDays(1));
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const stream = new Stream(await open({ content: 'Hello.', metadata: metadata() }));
    await server.received(1);
    await inTransaction(app.workspace.db, async (trx) => {
      const change = { workspaceId: app.workspace.workspaceId, clientId, now: clock.now() };
      await closeIncludedLots(trx, { ...change, key: 'p2' });
      await grantCredits(trx, { ...change, source: 'plan', amount: 10, key: 'p2', expiresAt: inDays(30) });
      gate.push('Done.');
      gate.end();
      // The statement that ends the turn has begun, and waits: it cannot see the new lot.
      await untilOneWaits(app.database.name);
    });
    expect((await stream.rest()).at(-1)?.event).toBe('debug-info');
    expect(await account()).toEqual({ included: 9, extra: 0, reserved: 0, used: 1 });
    expect(await uses()).toMatchObject([{ lot: 'p2', amount: -1 }]);
  });

  test('without any lot in their place the reply counts all the same', async () => {
    await withClient({});
    await grant('plan', 1, 'p1', inDays(1));
    server.script({ echo: true });
    const running = ask().then((response) => response);
    await server.received(1);
    const change = { workspaceId: app.workspace.workspaceId, clientId, key: 'p2', now: clock.now() };
    await inTransaction(app.workspace.db, (trx) => closeIncludedLots(trx, change));
    expect((await running).status).toBe(200);
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 1 });
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['unknown', async () => newId()],
    ['of another workspace', async () => makePayingClient(await app.database.seedWorkspace(), { credits: 5 })],
    [
      'deleted',
      async () => {
        const id = await makePayingClient(app.workspace, { credits: 5 });
        await app.workspace.db.updateTable('clients').set({ deleted_at: clock.now() }).where('id', '=', id).execute();
        return id;
      },
    ],
    ['no uuid', async () => 'client'],
  ])('for a client that is %s; nothing is stored', async (_which, make) => {
    const body = { content: 'Hello.', externalUserId: newId(), metadata: { clientPublicId: await make() } };
    const { body: refused } = await send(app, agentId, body).expect(400);
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/body/metadata/clientPublicId' }] });
    const { body: listed } = await app.api('get', `/conversations?externalUserId=${body.externalUserId}`).expect(200);
    expect(listed.total).toBe(0);
    await app.api('post', `/agents/${agentId}/messages/stream`).send(body).expect(400);
  });
});

describe('409 CLIENT_NOT_ACTIVE', () => {
  test.each(['past_due', 'canceled', 'pending_onboarding', 'suspended'] as const)(
    'while the client is %s, for the first message and later ones',
    async (status) => {
      await withClient({ credits: 5 });
      const conversationId = await begin();
      await setStatus(status);
      for (const refused of [await ask().expect(409), await ask(conversationId).expect(409)])
        expect(refused.body.code).toBe('CLIENT_NOT_ACTIVE');
      await setStatus('trialing');
      await ask(conversationId).expect(200);
      expect(await account()).toEqual({ included: 3, extra: 0, reserved: 0, used: 2 });
    },
  );

  test('is an event of a stream', async () => {
    await withClient({ credits: 5, status: 'suspended' });
    const events = await new Stream(await open({ content: 'Hello.', metadata: metadata() })).rest();
    expect(events).toMatchObject([{ event: 'error', data: { code: 'CLIENT_NOT_ACTIVE', status: 409 } }]);
  });
});

describe('429 OPERATION_LIMIT_REACHED', () => {
  test('without credits; with the time of the next renewal where it is known', async () => {
    await withClient({ credits: 1, renewalAt: inDays(1) });
    const conversationId = await begin();
    for (const { body, headers } of [await ask().expect(429), await ask(conversationId).expect(429)]) {
      expect(body).toMatchObject({ code: 'OPERATION_LIMIT_REACHED', message: 'The client has no credits left.' });
      expect(headers['retry-after']).toBe('86400');
    }
    await withClient({});
    expect((await ask().expect(429)).headers).not.toHaveProperty('retry-after');
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 0 });
  });

  test('bought credits count only where the plan lets the client use them', async () => {
    await withClient({});
    await grant('extra', 1, 'pack', null);
    await ask().expect(429);
    const terms = { isUnlimited: false, mayUseExtra: true };
    await inTransaction(app.workspace.db, (trx) => setAccountTerms(trx, app.workspace.workspaceId, clientId, terms));
    await ask().expect(200);
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 1 });
  });

  test('for all but one of the messages that come at once for the last credit, and for none when there is another one', async () => {
    await withClient({ credits: 1 });
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(429)]);
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 1 });
    await grant('grant', 1, 'one more', null);
    await ask().expect(200);
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 2 });
    expect(await reservations()).toEqual([]);
  });

  test('is exact for any number of credits', async () => {
    await withClient({ credits: 7 });
    const conversationId = await begin();
    const asked = Array.from({ length: 12 }, (_, each) => ask(each % 4 === 0 ? conversationId : undefined));
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(6).fill(200), ...Array(6).fill(429)]);
    expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 7 });
    expect((await uses()).length).toBe(7);
  });

  test('the quota of the workspace gives back what a client could not pay', async () => {
    const workspace = await app.database.seedWorkspace({ operationLimit: 2 });
    const own = await publishedAgent(app, {}, workspace.apiKey);
    clientId = await makePayingClient(workspace);
    const say = (body: object) => send(app, own, { content: 'Hello.', ...body }, workspace.apiKey);
    for (let each = 0; each < 3; each += 1) await say({ metadata: metadata() }).expect(429);
    await say({}).expect(200);
    clientId = await makePayingClient(workspace, { credits: 5 });
    const { conversationId } = (await say({ metadata: metadata() }).expect(200)).body;
    const over = await say({ conversationId }).expect(429);
    expect(over.body.message).toBe('The workspace has used up its operations of this month.');
    expect((await say({ metadata: metadata() }).expect(429)).body.message).toBe(over.body.message);
    const left = await workspace.db
      .selectFrom('credit_accounts')
      .select(['included', 'reserved'])
      .orderBy('included')
      .execute();
    expect(left).toEqual([
      { included: 0, reserved: 0 },
      { included: 4, reserved: 0 },
    ]);
  });
});

describe('what is reserved', () => {
  test('is released by a turn that fails or times out, and by one whose conversation is deleted meanwhile', async () => {
    await withClient({ credits: 1 });
    server.script({ status: 500 });
    await ask().expect(502);
    server.script({ silence: true });
    await send(app, agentId, { content: 'Slow.', metadata: metadata(), timeoutSeconds: 1 }).expect(408);
    expect(await account()).toEqual({ included: 1, extra: 0, reserved: 0, used: 0 });
    server.script({ silence: true });
    const externalUserId = newId();
    const running = send(app, agentId, {
      content: 'Slow.',
      metadata: metadata(),
      externalUserId,
      timeoutSeconds: 1,
    }).then((r) => r);
    await server.received(3);
    expect(await account()).toMatchObject({ reserved: 1 });
    await ask().expect(429);
    await app.workspace.db
      .updateTable('conversations')
      .set({ deleted_at: clock.now() })
      .where('external_user_id', '=', externalUserId)
      .execute();
    await running;
    expect(await account()).toEqual({ included: 1, extra: 0, reserved: 0, used: 0 });
    expect(await reservations()).toEqual([]);
    await ask().expect(200);
  });
});

test('a follow-up in a conversation of a client is paid by it, and not sent without credits', async () => {
  await withClient({ credits: 2 });
  const following = await publishedAgent(app, FOLLOWS_UP);
  const { body } = await send(app, following, { content: 'Hello.', metadata: metadata() }).expect(200);
  const context = { db: app.workspace.db, workspaceId: app.workspace.workspaceId, runtime: app.service.runtime };
  clock.advance(30 * 86_400_000);
  expect(await runFollowUp(context, body.conversationId)).toBe('sent');
  expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 2 });
  clock.advance(30 * 86_400_000);
  expect(await runFollowUp(context, body.conversationId)).toBe('not_due');
  expect(await account()).toEqual({ included: 0, extra: 0, reserved: 0, used: 2 });
});
