import { prepareTurn } from '../../../runtime/turn/prepareTurn.ts';
import { publish } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { toolCall } from '../../support/exchanges.ts';
import { answering, startToolServer, type ToolServer } from '../../support/httpTools.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { agentWith, postTool } from '../../support/runtimeAgents.ts';
import { conversationThatWaits, payCall } from '../../support/waitingCalls.ts';
import { GPT, HAIKU, send } from './turns.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
let pay: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  tools.on('/pay', answering('{"paid":true}'));
  pay = (await postTool(app, tools, '/pay', { requiresApproval: true })).publicId;
});
beforeEach(() => {
  server.reset();
  tools.received.length = 0;
});
afterAll(async () => {
  await app.close();
  await tools.close();
  await server.close();
});

const payer = (setup = {}) => agentWith(app, [{ kind: 'http_tool', id: pay }], setup);
const paid = () => tools.received.map(({ body }) => JSON.parse(body).city);
const pendingIn = async (conversationId: string) => {
  const { db } = app.workspace;
  const rows = await db
    .selectFrom('approvals')
    .select(['status', 'input'])
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'pending')
    .execute();
  return rows.map(({ input }) => (input as { city: string }).city);
};

test.each(['approve', 'reject'])(
  '“%s”, sent twice, does not decide what the agent asks for in between',
  async (word) => {
    const agentId = await payer();
    const { conversationId } = await conversationThatWaits(app, server, agentId, 'Oslo');
    const { db, workspaceId } = app.workspace;
    const request = { agentId, content: word, conversationId, attachments: [], isTest: false };
    const second = await prepareTurn(
      { db, workspaceId, runtime: app.service.runtime },
      { ...request, externalUserId: undefined, metadata: undefined },
    );
    server.script({ reply: '', toolCalls: [payCall('Rome')] });
    const { body: first } = await send(app, agentId, { content: word, conversationId }).expect(200);
    expect(first.pendingApprovals).toMatchObject([{ input: { city: 'Rome' } }]);
    const { pendingApprovals } = await second.run({ timeoutMs: 10_000 });
    expect(pendingApprovals).toMatchObject([{ input: { city: 'Rome' } }]);
    expect(paid()).toEqual(word === 'approve' ? ['Oslo'] : []);
    expect(await pendingIn(conversationId)).toEqual(['Rome']);
  },
);

test('what a sub-agent asked for that is gone can no longer be decided, and holds up nothing', async () => {
  const worker = await payer({ name: 'Worker' });
  const boss = await agentWith(app, [
    { kind: 'sub_agent', id: worker },
    { kind: 'http_tool', id: pay },
  ]);
  server.script(
    { reply: '', toolCalls: [toolCall('delegate_to_Worker', { task: 'Pay Oslo.' }), payCall('Rome')] },
    { reply: '', toolCalls: [payCall('Oslo')] },
  );
  const { body } = await send(app, boss, { content: 'Have both paid.' }).expect(200);
  expect(await pendingIn(body.conversationId)).toHaveLength(2);
  const { conversationId, pendingApprovals } = body;
  const rome = pendingApprovals.find(({ input }: { input: { city: string } }) => input.city === 'Rome').publicId;
  await app.api('delete', `/agents/${boss}/sub-agents/${worker}`).expect(204);
  await publish(app, boss);
  server.script({ reply: 'Rome alone.' });
  const message = { content: 'Rome.', conversationId, metadata: { approvals: { [rome]: 'approve' } } };
  const { body: end } = await send(app, boss, message).expect(200);
  expect(end).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Rome alone.' }] });
  expect(paid()).toEqual(['Rome']);
  expect(await pendingIn(conversationId)).toEqual([]);
});

describe('a model that thinks, and has no thoughts of its own to be shown', () => {
  const thinking = () => server.requests.map(({ body }) => (body.thinking as { type?: string } | undefined)?.type);
  test.each([
    ['because another model wrote the calls', { aiModelPublicId: GPT }],
    ['because it did not think then', { aiModelPublicId: HAIKU, thinkingEnabled: false }],
  ])('%s, goes on without, also when it is paused again on the way', async (_why, before) => {
    const agentId = await payer(before);
    const { conversationId, approvals } = await conversationThatWaits(app, server, agentId, 'Oslo', 'Rome');
    await app.api('patch', `/agents/${agentId}`).send({ aiModelPublicId: HAIKU, thinkingEnabled: true }).expect(200);
    await publish(app, agentId);
    server.reset();
    const [oslo = '', rome = ''] = approvals;
    const decide = (id: string) =>
      send(app, agentId, { content: 'Go.', conversationId, metadata: { approvals: { [id]: 'approve' } } }).expect(200);
    await decide(oslo);
    expect(server.requests).toEqual([]);
    server.script({ reply: '', toolCalls: [payCall('Bergen')] }, { reply: 'All paid.' });
    const { body } = await decide(rome);
    await decide(body.pendingApprovals[0].publicId);
    expect(thinking().map((type) => type === 'enabled')).toEqual([false, false]);
    expect(paid()).toEqual(['Oslo', 'Rome', 'Bergen']);
    await send(app, agentId, { content: 'Thanks.', conversationId }).expect(200);
    expect(thinking().at(-1)).toBe('enabled');
  });
});
