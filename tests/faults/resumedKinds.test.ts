import { jest } from '@jest/globals';
import { sql } from 'kysely';
import { sealChannelCredentials } from '../../domain/channels/credentials.ts';
import { receiveEvents } from '../../domain/channels/receive.ts';
import { transcript } from '../http/messages/turns.ts';
import { turnsOf } from '../support/agents/runtimeAgents.ts';
import { dispatchedRun, execution } from '../support/automations/executions.ts';
import { addConnection, messageEvent } from '../support/channels/events.ts';
import { openChatOf, TestVisitor } from '../support/channels/webChat.ts';
import type { TestApp } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import { adminJson } from '../support/scripts/admin.ts';
import { startZApiServer, type ZApiServer } from '../support/servers/zApiServer.ts';
import { FOLLOWS_UP } from '../support/turns/followUps.ts';
import { call, cleanUp, json } from './service.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

jest.setTimeout(180_000); // two processes are started, and one is killed

/* What turns are there for, other than a message over the API: each is at work when its process is killed (see resumedTurns.test.ts). */

let shop: Workshop;
let app: TestApp;
let zApi: ZApiServer;
beforeAll(async () => {
  [shop, zApi] = await Promise.all([openWorkshop(), startZApiServer()]);
  ({ app } = shop);
});
afterAll(async () => {
  await cleanUp();
  await Promise.all([shop.close(), zApi.close()]);
});

const startProcess = () => shop.startProcess({ GUILDHALL_ZAPI_BASE_URL: zApi.baseUrl });

/** A connection of the agent to the Z-API. */
async function onZApi(agentId: string) {
  const { db, workspaceId } = app.workspace;
  const { instanceId, instanceToken, clientToken } = zApi;
  const row = await addConnection(app.workspace, agentId, { config: JSON.stringify({ instanceId }) });
  const credentials = sealChannelCredentials(app.service.runtime.secrets, workspaceId, row.id, {
    instanceToken,
    clientToken,
  });
  await db.updateTable('channel_connections').set({ credentials }).where('id', '=', row.id).execute();
  return row;
}

/** The conversation with a message of the point. */
async function conversationOf(point: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select conversation_id as id from messages
    where role = 'user' and content ~ ${`^${point}\\M`} order by seq limit 1`.execute(app.workspace.db);
  return rows[0]?.id ?? '';
}

/** `K1` of `K1 wire`. */
const point = (say: string) => say.split(' ')[0] ?? '';

const statusesOf = async (point: string) =>
  (await turnsOf(app, await conversationOf(point))).map(({ kind, status }) => `${kind} ${status}`);

/** What is under way when the process is killed, the reply of the turn that is killed, and what its model must be told. */
const POINTS: {
  say: string;
  at: string;
  how: 'operator' | 'user' | 'chat' | 'zApi' | 'automation' | 'followUp';
  unknown?: true;
}[] = [
  { say: 'K1 wire', at: 'K1 wire', how: 'operator', unknown: true },
  { say: 'K2 wire', at: 'K2 model 1', how: 'operator' },
  { say: 'K3 wirepay', at: 'K3 pay', how: 'operator', unknown: true },
  { say: 'K4 help', at: 'K4a wire', how: 'operator', unknown: true },
  { say: 'K5 help', at: 'K5a helper 1', how: 'operator' },
  { say: 'K6 help', at: 'K6 model 1', how: 'operator' },
  { say: 'K7 wire', at: 'K7 wire', how: 'user', unknown: true },
  { say: 'K8 wire', at: 'K8 model 1', how: 'user' },
  { say: 'K9 help', at: 'K9a wire', how: 'user', unknown: true },
  { say: 'K10 plain', at: 'K10 model 0', how: 'chat' },
  { say: 'K11 pay', at: 'K11 pay', how: 'chat', unknown: true },
  { say: 'K12 pay', at: 'K12 model 1', how: 'chat' },
  { say: 'K13 plain', at: 'K13 model 0', how: 'zApi' },
  { say: 'K14 pay', at: 'K14 pay', how: 'zApi', unknown: true },
  { say: 'K15 pay', at: 'K15 model 1', how: 'zApi' },
  { say: 'K16 help', at: 'K16a wire', how: 'automation', unknown: true },
  { say: 'K17 help', at: 'K17a helper 1', how: 'automation' },
  { say: 'K18f pay', at: 'K18f pay', how: 'followUp', unknown: true },
];

test('kill -9 while turns of every kind are at work: each comes to one reply, which goes where it belongs, and no tool is called twice', async () => {
  const { held, asked, server } = shop;
  const agentId = await shop.agent();
  const writer = await shop.payer({ ...FOLLOWS_UP, followUpPrompt: 'K18f pay' });
  const chat = await openChatOf(app, agentId);
  const phone = await onZApi(agentId);
  const { apiKey, db, workspaceId } = app.workspace;
  const first = await startProcess();
  const chatAt = (origin: string) => ({ ...chat, url: chat.url.replace(app.origin, origin) });
  const send = (body: object, agent = agentId) =>
    json(call(first.origin, apiKey, 'POST', `/agents/${agent}/messages`, { timeoutSeconds: 120, ...body }));
  const of = (...hows: (typeof POINTS)[number]['how'][]) => POINTS.filter(({ how }) => hows.includes(how));

  // What has to come before: calls that wait for a decision, and a conversation that is silent.
  const waiting = new Map<string, { conversationId: string; approvals: string[] }>();
  for (const { say, how } of of('operator', 'user')) {
    const metadata = how === 'operator' ? { approvalsBy: 'operator' } : {};
    const { conversationId, pendingApprovals } = await send({ content: say, metadata });
    const approvals = pendingApprovals.map(({ publicId }: { publicId: string }) => publicId);
    waiting.set(say, { conversationId, approvals });
  }
  const { conversationId: silent } = await send({ content: 'K18 plain' }, writer);
  await sql`update conversations set follow_up_at = now() - interval '1 second' where id = ${silent}`.execute(db);

  for (const point of POINTS) held.add(point.at);
  const lost: Promise<unknown>[] = [];
  for (const { say } of of('operator'))
    for (const id of waiting.get(say)?.approvals ?? []) await adminJson(app.database, 'approval', 'approve', id);
  for (const { say } of of('user')) {
    const { conversationId } = waiting.get(say) ?? {};
    lost.push(send({ content: 'approve', conversationId }).catch(() => 'lost'));
  }
  const visitors = new Map<string, TestVisitor>();
  for (const { say } of of('chat')) {
    const visitor = await TestVisitor.open(chatAt(first.origin));
    visitors.set(say, visitor);
    await visitor.say(say);
  }
  for (const { say } of of('zApi')) {
    const person = `49151000${/\d+/.exec(say)}`;
    const { waiting: people } = await receiveEvents(db, phone, [messageEvent(person, { text: say })], new Date());
    for (const each of people) await app.service.queue.send('take-inbound', each);
  }
  const executions = new Map<string, string>();
  for (const { say } of of('automation')) {
    const { executionId } = await dispatchedRun(app, agentId, { prompt: say, hitlMode: 'auto_approve' });
    executions.set(say, executionId);
    await app.service.queue.send('run-automation', { workspaceId, executionId });
  }
  await app.service.queue.send('send-follow-up', { workspaceId, conversationId: silent });
  await poll(
    () => POINTS.filter((point) => !asked.includes(point.at)).map((point) => point.at),
    (missing) => missing.length === 0,
    60_000,
  );
  // The page shows the beginning of an answer.
  await poll(
    async () => (await sql`select from live_replies where text <> ''`.execute(db)).rows.length,
    (count) => count > 0,
    60_000,
  );
  first.child.kill('SIGKILL');
  await first.ended;
  await Promise.all(lost);
  held.clear();
  await sql`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`.execute(
    db,
  );

  const second = await startProcess();
  await poll(
    async () =>
      (await db.selectFrom('turns').select(['id']).where('status', 'in', ['running', 'waiting']).execute()).length,
    (count) => count === 0,
    60_000,
  );
  for (const { say, at, how, unknown } of POINTS) {
    const name = point(say);
    const found = await statusesOf(how === 'followUp' ? 'K18' : name);
    const before = how === 'operator' || how === 'user' || how === 'followUp' ? ['message done'] : [];
    const kind = how === 'operator' ? 'continuation' : how === 'followUp' ? 'follow_up' : 'message';
    expect([name, found]).toEqual([name, [...before, `${kind} done`]]);
    const said = await transcript(app, await conversationOf(how === 'followUp' ? 'K18' : name));
    const replies = said.filter((text) => text.startsWith('assistant:') && text.endsWith(`Done ${name}.`));
    expect([name, replies.length, said.at(-1)?.endsWith(`Done ${name}.`)]).toEqual([name, 1, true]);
    const told = server.requests.filter(({ body }) => {
      const text = JSON.stringify(body);
      return text.includes('Whether it was made is not known.') && text.includes(`${point(at)} `);
    });
    expect([name, told.length > 0]).toEqual([name, unknown === true]);
  }
  const calls = shop.calls();
  expect(calls.toSorted()).toEqual([...new Set(calls)].toSorted());

  for (const { say } of of('automation'))
    expect(await execution(app, executions.get(say) ?? '')).toMatchObject({ status: 'COMPLETED', attempts: 1 });
  await poll(
    async () => (await sql`select status from deliveries where status <> 'sent'`.execute(db)).rows,
    (left) => left.length === 0,
    60_000,
  );
  for (const { say } of of('chat')) {
    const { token } = visitors.get(say) ?? {};
    const visitor = new TestVisitor(chatAt(second.origin));
    visitor.token = token ?? '';
    const { messages } = await visitor.read();
    expect(messages.map(({ text }) => text)).toEqual([say, expect.stringContaining(`Done ${point(say)}.`)]);
  }
  // Nothing of the killed answers is left on the page.
  expect((await sql`select text from live_replies`.execute(db)).rows).toEqual([]);
  expect((await sql`select status from inbound_messages where status <> 'answered'`.execute(db)).rows).toEqual([]);
  expect(zApi.messages.map(({ content }) => content).toSorted()).toEqual(
    of('zApi')
      .map(({ say }) => `${say.endsWith('pay') ? 'Step 0.\n\n' : ''}Done ${point(say)}.`)
      .toSorted(),
  );
});
