import { randomUUID } from 'node:crypto';
import { decideApprovals, takeApproved } from '../../../db/queries/turns/approvals.ts';
import { publish } from '../../support/agents/agents.ts';
import { agentWith, link, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { draftAgent, GPT, HAIKU, LOCAL, send, stored } from './turns.ts';

let other: TestApp;
// Registered first, so that it ends first: the hooks of `here` drop the database that both use.
afterAll(() => other.close());
const here = useModelApp({ tools: true });
let pay: string;
let look: string;

beforeAll(async () => {
  other = await startTestApp({
    models: here.server.settings(),
    allowPrivateNetwork: true,
    database: here.app.database,
    clock: here.app.clock,
  });
  here.tools.on('/pay', answering('{"paid":true}'));
  here.tools.on('/look', answering('{"seen":true}'));
  pay = (await postTool(here.app, here.tools, '/pay', { requiresApproval: true })).publicId;
  look = (await postTool(here.app, here.tools, '/look')).publicId;
});

const payer = (aiModelPublicId = LOCAL) =>
  agentWith(
    here.app,
    [
      { kind: 'http_tool', id: pay },
      { kind: 'http_tool', id: look },
    ],
    { aiModelPublicId },
  );
const call = (name: string, city: string, id = `call_${name}_${city}`) => ({
  id,
  name,
  arguments: JSON.stringify({ city }),
});
const paths = () => here.tools.received.map(({ url, body }) => `${url} ${JSON.parse(body).city}`);

/** A conversation whose agent waits for the approval of these calls. */
async function waiting(agentId: string, ...calls: ReturnType<typeof call>[]) {
  here.server.script({ reply: 'I will pay.', toolCalls: calls });
  const { body } = await send(here.app, agentId, { content: 'Pay them.' }).expect(200);
  return body;
}
const decide = (agentId: string, conversationId: string, content: string, approvals?: object) =>
  send(here.app, agentId, { content, conversationId, ...(approvals ? { metadata: { approvals } } : {}) }).expect(200);

describe.each([
  ['OpenAI', GPT],
  ['Anthropic', HAIKU],
  ['chat completions', LOCAL],
])('%s', (_wire, model) => {
  test('a call that needs approval is not made but listed in the response as pending', async () => {
    const agentId = await payer(model);
    const body = await waiting(agentId, call('pay', 'Oslo'), call('look', 'Rome'));
    expect(paths()).toEqual(['/look Rome']);
    expect(body.pendingApprovals).toEqual([
      {
        publicId: expect.any(String),
        toolName: 'pay',
        input: { city: 'Oslo' },
        requestedAt: here.app.clock.now().toISOString(),
      },
    ]);
    expect(body.message.content).toBe(
      'I will pay.\n\nBefore I go on, a person has to approve:\n- pay {"city":"Oslo"}\n\nReply “approve” or “reject”.',
    );
    expect(await turnsOf(here.app, body.conversationId)).toMatchObject([{ status: 'waiting' }]);
    expect((await stepsOf(here.app, body.conversationId)).map(({ status }) => status)).toEqual([
      'done',
      'waiting',
      'done',
    ]);
  });

  test('“approve” makes the call once, and the model continues with all results', async () => {
    const agentId = await payer(model);
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'), call('look', 'Rome'));
    here.server.script({ reply: 'Paid.' });
    const { body } = await decide(agentId, conversationId, ' Approve ');
    expect(paths()).toEqual(['/look Rome', '/pay Oslo']);
    expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Paid.' }] });
    const seen = JSON.stringify(here.server.requests[1]?.body);
    expect(seen).toContain('seen');
    expect(seen).toContain('paid');
    expect((await turnsOf(here.app, conversationId)).map(({ status, paused }) => [status, paused])).toEqual([
      ['done', null],
      ['done', null],
    ]);
    expect((await stored(here.app, conversationId)).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    // No call waits any more, so the same word is an ordinary message.
    await decide(agentId, conversationId, 'approve');
    expect(paths()).toHaveLength(2);
  });

  test('“reject” makes no call and tells the model', async () => {
    const agentId = await payer(model);
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    here.server.script({ reply: 'Then not.' });
    const { body } = await decide(agentId, conversationId, 'reject');
    expect(paths()).toEqual([]);
    expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Then not.' }] });
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('A person rejected this call.');
  });
});

describe('decisions one by one', () => {
  test('metadata.approvals decides the calls that it names; the others keep waiting', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'), call('pay', 'Rome'));
    const [oslo, rome] = pendingApprovals.map(({ publicId }: { publicId: string }) => publicId);
    const { body } = await decide(agentId, conversationId, 'The first.', { [oslo]: 'approve' });
    expect(paths()).toEqual(['/pay Oslo']);
    expect(body.pendingApprovals).toMatchObject([{ publicId: rome }]);
    expect(here.server.requests).toHaveLength(1);
    here.server.script({ reply: 'Half.' });
    const { body: end } = await decide(agentId, conversationId, 'Not the other.', { [rome.toUpperCase()]: 'reject' });
    expect(paths()).toEqual(['/pay Oslo']);
    expect(end).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Half.' }] });
    const seen = JSON.stringify(here.server.requests[1]?.body);
    expect(seen).toContain('paid');
    expect(seen).toContain('A person rejected this call.');
  });

  test('the word “approve” decides the calls that metadata.approvals does not name', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'), call('pay', 'Rome'));
    await decide(agentId, conversationId, 'approve', { [pendingApprovals[0].publicId]: 'reject' });
    expect(paths()).toEqual(['/pay Rome']);
  });

  test('a message about something else withdraws the waiting calls, and the model must respond to that message', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'));
    here.server.script({ reply: 'Bergen, then.', toolCalls: [call('pay', 'Bergen')] });
    const metadata = { approvals: null, variables: null };
    const { body } = await send(here.app, agentId, { content: 'No, pay Bergen.', conversationId, metadata }).expect(
      200,
    );
    expect(paths()).toEqual([]);
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('This call was not approved');
    expect(body.pendingApprovals).toMatchObject([{ input: { city: 'Bergen' } }]);
    await decide(agentId, conversationId, 'And this?', { [pendingApprovals[0].publicId]: 'approve' });
    expect(paths()).toEqual([]);
  });

  test('an approval of another conversation is refused with 400 and its path, and changes nothing', async () => {
    const agentId = await payer();
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    const elsewhere = await waiting(agentId, call('pay', 'Rome'));
    for (const id of [elsewhere.pendingApprovals[0].publicId, randomUUID(), 'nonsense', '__proto__']) {
      const metadata = { approvals: Object.fromEntries([[id, 'approve']]) };
      const { status, body } = await send(here.app, agentId, { content: 'Go.', conversationId, metadata });
      expect([id, status, body.details?.[0]?.path]).toEqual([id, 400, `/body/metadata/approvals/${id}`]);
    }
    expect(await stored(here.app, conversationId)).toHaveLength(2);
    expect(paths()).toEqual([]);
  });
});

describe('who decides whether a call waits', () => {
  test.each([
    ['the tool', true, false, true],
    ['the link', false, true, true],
    ['neither', false, false, false],
  ])('a requirement set on %s: the stricter setting of tool and link counts', async (_who, onTool, onLink, waits) => {
    const { publicId: id } = await postTool(here.app, here.tools, '/pay', {
      name: `pay_${randomUUID()}`,
      requiresApproval: onTool,
    });
    const agentId = await agentWith(here.app, [{ kind: 'http_tool', id, change: { requiresApproval: onLink } }]);
    const name = (await here.app.api('get', `/http-tools/${id}`)).body.name;
    here.server.script({ reply: '', toolCalls: [call(name, 'Oslo')] });
    const { body } = await send(here.app, agentId, { content: 'Pay.' }).expect(200);
    expect(body.pendingApprovals).toHaveLength(waits ? 1 : 0);
    expect(paths()).toHaveLength(waits ? 0 : 1);
  });

  test('a tool that was unlinked meanwhile is not called, and the model gets an error', async () => {
    const agentId = await payer();
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    await here.app.api('delete', `/agents/${agentId}/http-tools/${pay}`).expect(204);
    await publish(here.app, agentId);
    here.server.script({ reply: 'Gone.' });
    await decide(agentId, conversationId, 'approve');
    expect(paths()).toEqual([]);
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('no longer available');
  });
});

describe('exactly once', () => {
  test('when approvals race through two replicas', async () => {
    for (let round = 0; round < 8; round += 1) {
      here.server.reset();
      here.tools.received.length = 0;
      const agentId = await payer();
      const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'));
      const approvals = { [pendingApprovals[0].publicId]: 'approve' };
      const body = { content: 'approve', conversationId, metadata: { approvals } };
      const answers = await Promise.all(
        [here.app, other, here.app, other].map((each) =>
          send(each, agentId, body, here.app.workspace.apiKey).then((answer) => answer),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(paths()).toEqual(['/pay Oslo']);
    }
  });

  test('when the resumed turn fails after the call, the next message continues with the result of the call', async () => {
    const agentId = await payer();
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    here.server.script({ status: 500 });
    await send(here.app, agentId, { content: 'approve', conversationId }).expect(502);
    expect(paths()).toEqual(['/pay Oslo']);
    here.server.script({ reply: 'Paid at last.' });
    const { body } = await decide(agentId, conversationId, 'Well?');
    expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Paid at last.' }] });
    expect(paths()).toEqual(['/pay Oslo']);
    expect(JSON.stringify(here.server.requests[2]?.body)).toContain('paid');
  });

  test('an approved call that another process has just started is not made a second time', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'));
    const { db, workspaceId } = here.app.workspace;
    const id = pendingApprovals[0].publicId;
    await decideApprovals(db, workspaceId, { approved: [id], rejected: [] }, 'operator', new Date());
    here.server.script({ reply: 'I do not know.' });
    // The turn still reads the call as approved, and then waits for the process that starts it.
    const sent = await db.transaction().execute(async (trx) => {
      expect(await takeApproved(trx, workspaceId, id)).toBe(true);
      const answer = decide(agentId, conversationId, 'Well?').then(({ body }) => body);
      await untilOneWaits(here.app.database.name);
      return { answer };
    });
    expect(await sent.answer).toMatchObject({ messages: [{ content: 'I do not know.' }] });
    expect(paths()).toEqual([]);
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('Whether it was made is not known.');
  });

  test('a call that was running when its process died is not made again, and the model learns that its outcome is unknown', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'));
    await here.app.workspace.db
      .updateTable('approvals')
      .set({ status: 'running', decided_at: new Date(), decided_by: 'message' })
      .where('id', '=', pendingApprovals[0].publicId)
      .execute();
    here.server.script({ reply: 'I do not know.' });
    await decide(agentId, conversationId, 'Well?');
    expect(paths()).toEqual([]);
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('Whether it was made is not known.');
  });
});

test('a sub-agent’s call waits for the same approval, and both agents continue when it is granted', async () => {
  const worker = await payer();
  const boss = await draftAgent(here.app);
  await link(here.app, boss, 'sub_agent', worker, { description: 'Pays.' });
  await publish(here.app, boss);
  const delegate = `delegate_to_${(await here.app.api('get', `/agents/${worker}`)).body.name.replace(/\W/g, '_')}`;
  here.server.script(
    { reply: '', toolCalls: [{ id: 'call_d', name: delegate, arguments: '{"task":"Pay Oslo."}' }] },
    { reply: 'I pay.', toolCalls: [call('pay', 'Oslo')] },
  );
  const { body } = await send(here.app, boss, { content: 'Have Oslo paid.' }).expect(200);
  expect(body.pendingApprovals).toMatchObject([{ toolName: 'pay', input: { city: 'Oslo' } }]);
  expect(paths()).toEqual([]);
  here.server.script({ reply: 'Oslo is paid.' }, { reply: 'All done.' });
  const { body: end } = await decide(boss, body.conversationId, 'approve');
  expect(paths()).toEqual(['/pay Oslo']);
  expect(end.messages).toEqual([{ role: 'assistant', content: 'All done.' }]);
  expect(JSON.stringify(here.server.requests[2]?.body)).toContain('paid');
  expect(JSON.stringify(here.server.requests[3]?.body)).toContain('Oslo is paid.');
  const delegations = (await stepsOf(here.app, body.conversationId)).filter(({ name }) => name === delegate);
  expect(delegations.map(({ input }) => input)).toEqual([{ task: 'Pay Oslo.' }, { task: 'Pay Oslo.' }]);
});
