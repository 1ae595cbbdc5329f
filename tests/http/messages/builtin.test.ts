import { randomUUID } from 'node:crypto';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { makeCommand } from '../../support/agents/agentCommands.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { addConnection } from '../../support/channels/people.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSource, processed } from '../../support/knowledge/knowledge.ts';
import { answering, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { makeSkill } from '../../support/tools/skills.ts';
import { connectBuiltin } from '../../support/tools/toolkits.ts';
import { streamed } from '../../support/turns/exchanges.ts';
import { type AgentSetup, send, stored } from './turns.ts';

/* No provider is configured: every answer here is the built-in model's. */

let tools: ToolServer;
let app: TestApp;
let links: { kind: 'http_tool' | 'native_mcp' | 'skill' | 'knowledge_source' | 'sub_agent'; id: string }[];

beforeAll(async () => {
  tools = await startToolServer();
  app = await startTestApp({ models: { retries: 0 }, allowPrivateNetwork: true, jobs: true });
  tools.on('/look', answering('{"sky":"clear"}'));
  tools.on('/pay', answering('{"paid":true}'));
  tools.on('/broken', answering('{"error":"down"}', 'application/json', 503));
  const source = await makeSource(app, {
    name: 'Refund policy',
    textContent: 'Orders can be sent back within 30 days.\n\nThe shop is closed on Sundays.',
  });
  expect((await processed(app, source.publicId)).processingStatus).toBe('COMPLETED');
  const skill = await makeSkill(app, { fields: 'name: packing\ndescription: How parcels are packed.' });
  links = [
    { kind: 'http_tool', id: (await postTool(app, tools, '/look')).publicId },
    { kind: 'http_tool', id: (await postTool(app, tools, '/broken')).publicId },
    { kind: 'http_tool', id: (await postTool(app, tools, '/pay', { requiresApproval: true })).publicId },
    { kind: 'native_mcp', id: await connectBuiltin(app.workspace, 'calculator') },
    { kind: 'skill', id: skill.publicId },
    { kind: 'knowledge_source', id: source.publicId },
  ];
});
beforeEach(() => {
  tools.received.length = 0;
});
afterAll(async () => {
  await app.close();
  await tools.close();
});

const MODEL = { aiModelPublicId: BUILTIN_MODEL.publicId };
const agent = (setup: AgentSetup = {}) => agentWith(app, links, { ...MODEL, systemPrompt: 'You sell tea.', ...setup });
const called = () => tools.received.map(({ url, body }) => `${url} ${JSON.parse(body).city}`);

/** Sends a message. Returns the response. */
async function say(agentId: string, content: string, more: object = {}) {
  const { body } = await send(app, agentId, { content, ...more }).expect(200);
  expect(body.message.model).toBe('guildhall-builtin');
  return body;
}

test('a question that the linked knowledge answers gets its answer from there, with the source', async () => {
  const agentId = await agent();
  const { message, usage } = await say(agentId, 'When can orders be sent back?');
  expect(message.content).toMatch(/^Orders can be sent back within 30 days\.\n\nSource: Refund policy\n\n/);
  expect(message.content).not.toContain('Sundays');
  expect(usage.totalCost).toBe(0);
  expect(usage.inputTokens).toBeGreaterThan(0);
});

test('for any other message it lists its input and says that it is no LLM', async () => {
  const agentId = await agent();
  const { message, conversationId } = await say(agentId, 'Zugzwang?');
  expect(message.content).toContain('I am not an LLM');
  expect(message.content).toContain('“Zugzwang?”');
  expect(message.content).toContain('You sell tea.');
  expect(message.content).toContain('This is the first message');
  const { message: second } = await say(agentId, 'Zugzwang!', { conversationId });
  expect(second.content).toContain('2 earlier messages');
});

test('it calls a tool that the message names, with the JSON of the message', async () => {
  const { message, conversationId } = await say(await agent(), 'Please call look {"city":"Oslo"}.');
  expect(called()).toEqual(['/look Oslo']);
  expect(message.content).toContain('look answered: “{"sky":"clear"}”');
  expect((await stepsOf(app, conversationId)).map(({ kind, name, status }) => [kind, name, status])).toEqual([
    ['model', 'guildhall-builtin', 'done'],
    ['tool', 'look', 'done'],
    ['model', 'guildhall-builtin', 'done'],
  ]);
});

test('it makes several calls in parallel, and in sequence', async () => {
  const agentId = await agent();
  const plan = 'call look {"city":"Oslo"} and look {"city":"Rome"}, then call calculate {"expression":"6 * 7"}';
  const { message, conversationId } = await say(agentId, plan);
  expect(called().toSorted()).toEqual(['/look Oslo', '/look Rome']);
  expect(message.content).toMatch(/look answered: .*look answered: .*calculate answered: “.*42/s);
  expect((await stepsOf(app, conversationId)).map(({ name }) => name)).toEqual([
    'guildhall-builtin',
    'look',
    'look',
    'guildhall-builtin',
    'calculate',
    'guildhall-builtin',
  ]);
});

test('a failed call ends the sequence, and the reply says so', async () => {
  const { message } = await say(await agent(), 'call broken {"city":"Oslo"} then call look {"city":"Oslo"}');
  expect(called()).toEqual(['/broken Oslo']);
  expect(message.content).toMatch(/broken failed: .*503.*So I did not call look\./s);
});

test('for an unknown tool it names that tool and the available ones', async () => {
  const { message } = await say(await agent(), 'call fly_away {"city":"Oslo"}');
  expect(message.content).toContain('There is no tool fly_away.');
  expect(message.content).toContain('look, broken, pay');
});

describe('approvals by words', () => {
  test('the call waits; “approve” makes it, and the sequence continues', async () => {
    const agentId = await agent();
    const plan = 'call pay {"city":"Oslo"} then call look {"city":"Oslo"}';
    const { conversationId, pendingApprovals, message } = await say(agentId, plan);
    expect(pendingApprovals).toMatchObject([{ toolName: 'pay', input: { city: 'Oslo' } }]);
    expect(message.content).toContain('Reply “approve” or “reject”.');
    expect(called()).toEqual([]);
    const end = await say(agentId, 'approve', { conversationId });
    expect(called()).toEqual(['/pay Oslo', '/look Oslo']);
    expect(end.pendingApprovals).toEqual([]);
    expect(end.message.content).toMatch(/pay answered: “{"paid":true}”.*look answered: /s);
    expect((await turnsOf(app, conversationId)).map(({ status }) => status)).toEqual(['done', 'done']);
  });

  test('“reject” makes no call and ends the sequence', async () => {
    const agentId = await agent();
    const { conversationId } = await say(agentId, 'call pay {"city":"Oslo"} then call look {"city":"Oslo"}');
    const { message } = await say(agentId, 'reject', { conversationId });
    expect(called()).toEqual([]);
    expect(message.content).toMatch(/pay failed: “A person rejected this call\..*did not call look/s);
  });
});

describe('it can try every capability', () => {
  test('memory', async () => {
    const agentId = await agent({ longTermMemoryEnabled: true });
    const externalUserId = randomUUID();
    await say(agentId, 'call remember {"fact":"Likes tea."}', { externalUserId });
    const { message } = await say(agentId, 'call recall {}', { externalUserId });
    expect(message.content).toMatch(/recall answered: “- \[[0-9a-f]{8}\] Likes tea\.”/);
  });

  test('skills and knowledge search', async () => {
    const agentId = await agent();
    expect((await say(agentId, 'call read_skill {"skill":"packing"}')).message.content).toContain('One thing.');
    const { message } = await say(agentId, 'call search_knowledge {"query":"Sundays"}');
    expect(message.content).toContain('The shop is closed on Sundays.');
  });

  test('the sandbox', async () => {
    const { message } = await say(await agent({ sandboxEnabled: true }), 'call run_javascript {"code":"6 * 7"}');
    expect(message.content).toContain('run_javascript answered: “Result: 42”');
  });

  test('generative UI', async () => {
    const agentId = await agent({ genuiEnabled: true });
    const { message } = await say(agentId, 'call show_ui {"ui":{"type":"text","text":"Hi"}}');
    expect(message.ui).toEqual({ type: 'text', text: 'Hi' });
  });

  test('but not web search, which is not offered where no service is configured', async () => {
    const { message } = await say(await agent({ webSearchEnabled: true }), 'call web_search {"query":"tea"}');
    expect(message.content).toContain('There is no tool web_search.');
  });

  test('sub-agents, which carry out their tasks in the same way', async () => {
    const subId = await agent({ name: 'Looker' });
    const boss = await agentWith(app, [{ kind: 'sub_agent', id: subId }], MODEL);
    const task = 'call look {\\"city\\":\\"Oslo\\"}';
    const { message, conversationId } = await say(boss, `call delegate_to_Looker {"task":"${task}"}`);
    expect(called()).toEqual(['/look Oslo']);
    expect(message.content).toContain('delegate_to_Looker answered: ');
    expect(message.content).toContain('clear');
    expect((await stepsOf(app, conversationId)).map(({ depth }) => depth)).toEqual([0, 0, 1, 1, 1, 0]);
  });

  test('slash commands', async () => {
    const agentId = await agent();
    await makeCommand(app, agentId, { command: 'look', prompt: 'call look {"city":"Oslo"}' });
    await say(agentId, '/look');
    expect(called()).toEqual(['/look Oslo']);
  });

  test('message splitting', async () => {
    const { messages } = await say(await agent({ messageSplittingEnabled: true }), 'Zugzwang?');
    expect(messages.length).toBeGreaterThan(1);
  });
});

test('a stream has the text that is stored, and the calls in its last event', async () => {
  const { text, debug, conversationId } = await streamed(app, await agent(), { content: 'call look {"city":"Oslo"}' });
  expect(text).toContain('look answered: “{"sky":"clear"}”');
  expect(debug).toMatchObject({ model: 'guildhall-builtin', totalCost: 0, toolCalls: [{ name: 'look', ok: true }] });
  expect((await stored(app, conversationId)).at(-1)?.content).toBe(text);
});

test('the same message gets the same reply', async () => {
  const agentId = await agent();
  const [one, two] = [await say(agentId, 'When is the shop closed?'), await say(agentId, 'When is the shop closed?')];
  expect(one.message.content).toBe(two.message.content);
  expect(one.message.tokenUsage).toEqual(two.message.tokenUsage);
});

test('an agent on a channel hands over to a person when the message says so', async () => {
  const agentId = await agent();
  await addConnection(app.workspace, { agentId });
  const { body } = await send(app, agentId, { content: 'call hand_over' }).expect(200);
  expect(body.message.content).toContain('hand_over answered');
  expect(body.conversation.isPaused).toBe(true);
});
