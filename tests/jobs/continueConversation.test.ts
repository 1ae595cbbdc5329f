import { pino } from 'pino';
import { approvalDecided } from '../../db/events.ts';
import { decideApprovals, decideAsOperator } from '../../db/queries/turns/approvals.ts';
import { inTransaction } from '../../db/transaction.ts';
import { continueConversation } from '../../jobs/continueConversation.ts';
import { send, stored, transcript } from '../http/messages/turns.ts';
import { agentWith, postTool, turnsOf } from '../support/agents/runtimeAgents.ts';
import { createTestDatabase } from '../support/db/database.ts';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/http/app.ts';
import { makePayingClient } from '../support/hub/payingClients.ts';
import { until } from '../support/poll.ts';
import { admin, adminJson } from '../support/scripts/admin.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { conversationThatWaits, lastReply, payCall } from '../support/turns/waitingCalls.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
/** A second replica over the same database. */
let other: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp(settings());
  other = await startTestApp(settings({ database: app.database, clock: app.clock }));
  agentId = await payer(app);
});
beforeEach(() => {
  server.reset();
  tools.received.length = 0;
  tools.on('/pay', answering('{"paid":true}'));
});
afterAll(async () => {
  await other.close();
  await app.close();
  await tools.close();
  await server.close();
});

const settings = (more: TestAppOptions = {}): TestAppOptions => ({
  jobs: true,
  allowPrivateNetwork: true,
  models: server.settings(),
  ...more,
});
const payer = async (of: TestApp) =>
  agentWith(of, [{ kind: 'http_tool', id: (await postTool(of, tools, '/pay', { requiresApproval: true })).publicId }]);
const waits = (...cities: string[]) => conversationThatWaits(app, server, agentId, ...cities);
const approve = (id = '') => admin(app.database, 'approval', 'approve', id);
const reject = (id = '') => admin(app.database, 'approval', 'reject', id);
const paid = () => tools.received.map(({ body }) => JSON.parse(body).city);
const lastPrompt = () => JSON.stringify(server.requests.at(-1)?.body);

test('a call that an operator approves is made once, and the reply comes into the conversation', async () => {
  const { conversationId, approvals } = await waits('Oslo');
  server.script({ reply: 'Oslo is paid.' });
  expect(await approve(approvals[0])).toMatchObject({ code: 0 });
  expect(await lastReply(app, conversationId)).toBe('Oslo is paid.');
  expect(paid()).toEqual(['Oslo']);
  expect(lastPrompt()).toContain('paid');
  expect((await stored(app, conversationId)).map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
  expect((await turnsOf(app, conversationId)).map(({ kind, status }) => [kind, status])).toEqual([
    ['message', 'done'],
    ['continuation', 'done'],
  ]);
});

test('a turn that waits continues when its steps are gone', async () => {
  const { conversationId, approvals } = await waits('Oslo');
  const { numDeletedRows } = await app.workspace.db.deleteFrom('turn_steps').executeTakeFirstOrThrow();
  expect(Number(numDeletedRows)).toBeGreaterThan(0);
  server.script({ reply: 'Oslo is paid.' });
  expect(await approve(approvals[0])).toMatchObject({ code: 0 });
  expect(await lastReply(app, conversationId)).toBe('Oslo is paid.');
  expect(paid()).toEqual(['Oslo']);
});

test('a call that an operator rejects is not made, and the model gets the rejection', async () => {
  const { conversationId, approvals } = await waits('Oslo');
  server.script({ reply: 'Then not.' });
  expect(await reject(approvals[0])).toMatchObject({ code: 0 });
  expect(await lastReply(app, conversationId)).toBe('Then not.');
  expect(paid()).toEqual([]);
  expect(lastPrompt()).toContain('A person rejected this call.');
});

test('of two calls of a turn the first decision starts nothing; after the second one the agent continues, once', async () => {
  const { conversationId, approvals } = await waits('Oslo', 'Rome');
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const unlisten = await app.database.database.listen(approvalDecided.channel, resolve);
  await approve(approvals[0]);
  await promise;
  unlisten();
  await continueConversation.run({ workspaceId: app.workspace.workspaceId, conversationId }, jobContext());
  expect(paid()).toEqual([]);
  expect(await turnsOf(app, conversationId)).toMatchObject([{ status: 'waiting' }]);
  server.script({ reply: 'Oslo alone.' });
  await reject(approvals[1]);
  expect(await lastReply(app, conversationId)).toBe('Oslo alone.');
  expect(paid()).toEqual(['Oslo']);
  expect(await turnsOf(app, conversationId)).toHaveLength(2);
});

test('an agent that asks repeatedly continues at once after each decision, however soon that comes', async () => {
  const cities = Array.from({ length: 12 }, (_, i) => `City ${i}`);
  const { conversationId } = await waits('First');
  for (const city of cities) server.script({ reply: '', toolCalls: [payCall(city)] });
  server.script({ reply: 'All paid.' });
  for (const city of ['First', ...cities]) {
    // 15 s: well before a sweep finds what the queue missed.
    const id = await until(() => pendingFor(city));
    await inTransaction(app.database.database.system, (trx) => decideAsOperator(trx, id, 'approved', new Date()));
  }
  expect(await lastReply(app, conversationId)).toBe('All paid.');
  expect(paid()).toEqual(['First', ...cities]);
});

async function pendingFor(city: string): Promise<string | undefined> {
  const rows = await app.workspace.db
    .selectFrom('approvals')
    .select(['id', 'input'])
    .where('workspace_id', '=', app.workspace.workspaceId)
    .where('status', '=', 'pending')
    .execute();
  return rows.find(({ input }) => (input as { city: string }).city === city)?.id;
}

describe('exactly once', () => {
  test('when an operator and a message approve at the same moment', async () => {
    for (let round = 0; round < 12; round += 1) {
      server.reset();
      tools.received.length = 0;
      const { conversationId, approvals } = await waits('Oslo');
      const [, answer] = await Promise.all([
        approve(approvals[0]),
        send(round % 2 ? other : app, agentId, { content: 'approve', conversationId }, app.workspace.apiKey),
      ]);
      expect(answer.status).toBe(200);
      expect(await lastReply(app, conversationId)).toBe('Hello from the model.');
      expect(paid()).toEqual(['Oslo']);
      expect((await transcript(app, conversationId)).slice(2).toSorted()).toContain('user: approve');
    }
  });

  test('when an operator approves and a message rejects: the first decision counts', async () => {
    for (let round = 0; round < 12; round += 1) {
      server.reset();
      tools.received.length = 0;
      const { conversationId, approvals } = await waits('Oslo');
      const [{ code }, answer] = await Promise.all([
        approve(approvals[0]),
        send(app, agentId, { content: 'reject', conversationId }),
      ]);
      expect(answer.status).toBe(200);
      await lastReply(app, conversationId);
      expect(paid()).toEqual(code === 0 ? ['Oslo'] : []);
    }
  });

  test('when two operators decide at once, the first decision counts, and the other operator gets an error', async () => {
    for (let round = 0; round < 6; round += 1) {
      tools.received.length = 0;
      const { conversationId, approvals } = await waits('Oslo');
      const answers = await Promise.all([approve(approvals[0]), reject(approvals[0])]);
      expect(answers.map(({ code }) => code).toSorted()).toEqual([0, 1]);
      const approved = answers[0]?.code === 0;
      const late = answers.find(({ code }) => code === 1);
      expect(late?.stderr).toContain(', decided by operator');
      await lastReply(app, conversationId);
      expect(paid()).toEqual(approved ? ['Oslo'] : []);
    }
  });

  test('when every replica is notified', async () => {
    const cities = Array.from({ length: 8 }, (_, i) => `City ${i}`);
    const waiting: Awaited<ReturnType<typeof waits>>[] = [];
    for (const city of cities) waiting.push(await waits(city));
    await Promise.all(waiting.map(({ approvals }) => approve(approvals[0])));
    for (const { conversationId } of waiting) {
      await lastReply(app, conversationId);
      expect(await turnsOf(app, conversationId)).toHaveLength(2);
    }
    expect(paid().toSorted()).toEqual(cities);
  });
});

/** Runs the job as a worker does, without the queue. */
const jobContext = (of = app) => ({
  database: of.database.database,
  runtime: of.service.runtime,
  clock: of.clock,
  logger: pino({ level: 'silent' }),
  jobs: of.service.queue,
  signal: new AbortController().signal,
});

describe('a decision during the response to a message', () => {
  test.each([
    ['the replica that answers it', () => app],
    ['another replica', () => other],
  ])('is followed as soon as that is over, by %s', async (_which, replica) => {
    const { conversationId, approvals } = await waits('Oslo', 'Rome');
    const [oslo = '', rome = ''] = approvals;
    const called = Promise.withResolvers<() => void>();
    tools.on('/pay', (received, response) => {
      const answer = () => answering('{"paid":true}')(received, response);
      if (received.body.includes('Oslo')) called.resolve(answer);
      else answer();
    });
    const message = { content: 'Only Oslo.', conversationId, metadata: { approvals: { [oslo]: 'approve' } } };
    const answered = send(app, agentId, message).then((answer) => answer);
    const letGo = await called.promise;
    server.script({ reply: 'Both are paid.' });
    const { workspaceId, db } = app.workspace;
    // As an operator decides, but without the notification: the only job is the one below.
    await decideApprovals(db, workspaceId, { approved: [rome], rejected: [] }, 'operator', new Date());
    const goingOn = continueConversation.run({ workspaceId, conversationId }, jobContext(replica()));
    // Time in which it finds the conversation taken, several times.
    for (let read = 0; read < 20; read += 1) await stored(app, conversationId);
    letGo();
    expect((await answered).body.pendingApprovals).toHaveLength(1);
    await goingOn;
    expect(await lastReply(app, conversationId)).toBe('Both are paid.');
    expect(paid()).toEqual(['Oslo', 'Rome']);
  });
});

describe('what a service that starts later finds', () => {
  test('decisions that operators made while no service ran', async () => {
    const database = await createTestDatabase();
    const first = await startTestApp(settings({ database, jobs: false }));
    const { conversationId, approvals } = await conversationThatWaits(first, server, await payer(first), 'Oslo');
    const { workspace } = first;
    await first.close();
    expect(await adminJson(database, 'approval', 'approve', approvals[0] ?? '')).toMatchObject({ status: 'approved' });
    server.script({ reply: 'Oslo is paid.' });
    const second = await startTestApp(settings({ database }));
    expect(await lastReply({ ...second, workspace }, conversationId)).toBe('Oslo is paid.');
    expect(paid()).toEqual(['Oslo']);
    await second.close();
    await database.drop();
  });

  test('a conversation whose model failed after the call was made: the call is not made again', async () => {
    const database = await createTestDatabase();
    const lone = await startTestApp(settings({ database, jobs: false }));
    const { conversationId, approvals } = await conversationThatWaits(lone, server, await payer(lone), 'Oslo');
    const job = { workspaceId: lone.workspace.workspaceId, conversationId };
    await admin(database, 'approval', 'approve', approvals[0] ?? '');
    expect(await continueConversation.sweep(jobContext(lone))).toEqual({ due: [job] });
    server.script({ status: 500 });
    await expect(continueConversation.run(job, jobContext(lone))).rejects.toMatchObject({
      code: 'MODEL_PROVIDER_ERROR',
    });
    expect(await continueConversation.sweep(jobContext(lone))).toEqual({ due: [job] });
    server.script({ reply: 'Oslo is paid.' });
    await continueConversation.run(job, jobContext(lone));
    expect(await lastReply(lone, conversationId)).toBe('Oslo is paid.');
    expect(paid()).toEqual(['Oslo']);
    expect(await continueConversation.sweep(jobContext(lone))).toEqual({ due: [] });
    await lone.close();
    await database.drop();
  });
});

test('a continuation costs no operation: the message that led to it was counted', async () => {
  const database = await createTestDatabase();
  const lone = await startTestApp(settings({ database }));
  const limited = { ...lone, workspace: await database.seedWorkspace({ operationLimit: 1 }) };
  limited.api = (method, path, key = limited.workspace.apiKey) => lone.api(method, path, key);
  const { conversationId, approvals } = await conversationThatWaits(limited, server, await payer(limited), 'Oslo');
  server.script({ reply: 'Oslo is paid.' });
  await admin(database, 'approval', 'approve', approvals[0] ?? '');
  expect(await lastReply(limited, conversationId)).toBe('Oslo is paid.');
  expect(await adminJson(database, 'usage', 'show', '--workspace', limited.workspace.workspaceId)).toMatchObject({
    operations: 1,
    operationsCounted: 1,
    operationLimit: 1,
    turns: 2,
  });
  await lone.close();
  await database.drop();
});

test('a conversation that is paused, ended or deleted stays as it is; a paused one continues when it is resumed', async () => {
  // No process runs jobs but this test: else the one that the decision queues may come only after the pause.
  const database = await createTestDatabase();
  const lone = await startTestApp(settings({ database, jobs: false }));
  const loneAgentId = await payer(lone);
  for (const change of [{ is_paused: true }, { is_ended: true }, { deleted_at: new Date() }]) {
    const { conversationId, approvals } = await conversationThatWaits(lone, server, loneAgentId, 'Oslo');
    await lone.workspace.db.updateTable('conversations').set(change).where('id', '=', conversationId).execute();
    const { code } = await admin(database, 'approval', 'approve', approvals[0] ?? '');
    expect([change, code]).toEqual([change, 'deleted_at' in change ? 1 : 0]);
    const job = { workspaceId: lone.workspace.workspaceId, conversationId };
    expect((await continueConversation.sweep(jobContext(lone))).due).not.toContainEqual(job);
    await continueConversation.run(job, jobContext(lone));
    expect(await turnsOf(lone, conversationId)).toMatchObject([{ status: 'waiting' }]);
    if (!('is_paused' in change)) continue;
    await lone.workspace.db
      .updateTable('conversations')
      .set({ is_paused: false })
      .where('id', '=', conversationId)
      .execute();
    expect((await continueConversation.sweep(jobContext(lone))).due).toContainEqual(job);
    await continueConversation.run(job, jobContext(lone));
    await lastReply(lone, conversationId);
  }
  expect(paid()).toEqual(['Oslo']);
  await lone.close();
  await database.drop();
});

test('a turn that waits costs a client one credit, and what it continues with after the decision costs nothing', async () => {
  const { workspaceId, db } = app.workspace;
  const clientPublicId = await makePayingClient(app.workspace, { credits: 1 });
  const left = async () =>
    await db
      .selectFrom('credit_accounts')
      .select(['included', 'reserved', 'used_this_period as used'])
      .where('workspace_id', '=', workspaceId)
      .where('client_id', '=', clientPublicId)
      .executeTakeFirstOrThrow();
  server.script({ reply: '', toolCalls: [payCall('Oslo')] }, { reply: 'Oslo is paid.' });
  const { body } = await send(app, agentId, { content: 'Pay.', metadata: { clientPublicId } }).expect(200);
  expect(await left()).toEqual({ included: 0, reserved: 0, used: 1 });
  await approve(body.pendingApprovals[0].publicId);
  expect(await lastReply(app, body.conversationId)).toBe('Oslo is paid.');
  expect(await left()).toEqual({ included: 0, reserved: 0, used: 1 });
});
