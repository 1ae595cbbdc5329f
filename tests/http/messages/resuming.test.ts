import { planTurn } from '../../../runtime/turn/planTurn.ts';
import { runTurn } from '../../../runtime/turn/runTurn.ts';
import { publish } from '../../support/agents/agents.ts';
import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { toolCall } from '../../support/turns/exchanges.ts';
import { conversationThatWaits, payCall } from '../../support/turns/waitingCalls.ts';
import { GPT, HAIKU, send } from './turns.ts';

const here = useModelApp({ tools: true });
let pay: string;

beforeAll(async () => {
  here.tools.on('/pay', answering('{"paid":true}'));
  pay = (await postTool(here.app, here.tools, '/pay', { requiresApproval: true })).publicId;
});

const payer = (setup = {}) => agentWith(here.app, [{ kind: 'http_tool', id: pay }], setup);
const paid = () => here.tools.received.map(({ body }) => JSON.parse(body).city);
const pendingIn = async (conversationId: string) => {
  const { db } = here.app.workspace;
  const rows = await db
    .selectFrom('approvals')
    .select(['status', 'input'])
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'pending')
    .execute();
  return rows.map(({ input }) => (input as { city: string }).city);
};

test.each(['approve', 'reject'])(
  '“%s”, sent twice, does not decide the call that the agent asks for in between',
  async (word) => {
    const agentId = await payer();
    const { conversationId } = await conversationThatWaits(here.app, here.server, agentId, 'Oslo');
    const { db, workspaceId } = here.app.workspace;
    const request = { agentId, content: word, conversationId, attachments: [], isTest: false };
    const second = await planTurn(
      { db, workspaceId, runtime: here.app.service.runtime },
      { ...request, externalUserId: undefined, metadata: undefined, timeoutMs: 10_000 },
    );
    here.server.script({ reply: '', toolCalls: [payCall('Rome')] });
    const { body: first } = await send(here.app, agentId, { content: word, conversationId }).expect(200);
    expect(first.pendingApprovals).toMatchObject([{ input: { city: 'Rome' } }]);
    const { pendingApprovals } = await runTurn(second);
    expect(pendingApprovals).toMatchObject([{ input: { city: 'Rome' } }]);
    expect(paid()).toEqual(word === 'approve' ? ['Oslo'] : []);
    expect(await pendingIn(conversationId)).toEqual(['Rome']);
  },
);

test('the call of a deleted sub-agent can no longer be decided, and blocks nothing', async () => {
  const worker = await payer({ name: 'Worker' });
  const boss = await agentWith(here.app, [
    { kind: 'sub_agent', id: worker },
    { kind: 'http_tool', id: pay },
  ]);
  here.server.script(
    { reply: '', toolCalls: [toolCall('delegate_to_Worker', { task: 'Pay Oslo.' }), payCall('Rome')] },
    { reply: '', toolCalls: [payCall('Oslo')] },
  );
  const { body } = await send(here.app, boss, { content: 'Have both paid.' }).expect(200);
  expect(await pendingIn(body.conversationId)).toHaveLength(2);
  const { conversationId, pendingApprovals } = body;
  const rome = pendingApprovals.find(({ input }: { input: { city: string } }) => input.city === 'Rome').publicId;
  await here.app.api('delete', `/agents/${boss}/sub-agents/${worker}`).expect(204);
  await publish(here.app, boss);
  here.server.script({ reply: 'Rome alone.' });
  const message = { content: 'Rome.', conversationId, metadata: { approvals: { [rome]: 'approve' } } };
  const { body: end } = await send(here.app, boss, message).expect(200);
  expect(end).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Rome alone.' }] });
  expect(paid()).toEqual(['Rome']);
  expect(await pendingIn(conversationId)).toEqual([]);
});

describe('a thinking model whose history has no thinking blocks of its own', () => {
  const thinking = () => here.server.requests.map(({ body }) => (body.thinking as { type?: string } | undefined)?.type);
  test.each([
    ['another model wrote the calls', { aiModelPublicId: GPT }],
    ['thinking was off then', { aiModelPublicId: HAIKU, thinkingEnabled: false }],
  ])('continues without thinking when %s, also after a second pause', async (_why, before) => {
    const agentId = await payer(before);
    const { conversationId, approvals } = await conversationThatWaits(here.app, here.server, agentId, 'Oslo', 'Rome');
    await here.app
      .api('patch', `/agents/${agentId}`)
      .send({ aiModelPublicId: HAIKU, thinkingEnabled: true })
      .expect(200);
    await publish(here.app, agentId);
    here.server.reset();
    const [oslo = '', rome = ''] = approvals;
    const decide = (id: string) =>
      send(here.app, agentId, { content: 'Go.', conversationId, metadata: { approvals: { [id]: 'approve' } } }).expect(
        200,
      );
    await decide(oslo);
    expect(here.server.requests).toEqual([]);
    here.server.script({ reply: '', toolCalls: [payCall('Bergen')] }, { reply: 'All paid.' });
    const { body } = await decide(rome);
    await decide(body.pendingApprovals[0].publicId);
    expect(thinking().map((type) => type === 'enabled')).toEqual([false, false]);
    expect(paid()).toEqual(['Oslo', 'Rome', 'Bergen']);
    await send(here.app, agentId, { content: 'Thanks.', conversationId }).expect(200);
    expect(thinking().at(-1)).toBe('enabled');
  });
});
