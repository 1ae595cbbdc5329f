import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { resultsOf, streamed, systemOf, toolCall, WIRES } from '../../support/turns/exchanges.ts';
import { type AgentSetup, conversation, GPT, publishedAgent, said, send, stored, transcript } from './turns.ts';

const here = useModelApp({ tools: true });
let pay: string;

beforeAll(async () => {
  here.tools.on('/pay', answering('{"paid":true}'));
  pay = (await postTool(here.app, here.tools, '/pay', { requiresApproval: true })).publicId;
});

const PARTS = [
  'Good morning, and welcome to the little shop of tea.',
  'We have green tea, black tea and some that nobody can name.',
  'Which one may I make for you today, dear guest?',
];
const WHOLE = PARTS.join('\n\n');
const splitter = (setup: AgentSetup = {}) =>
  publishedAgent(here.app, {
    aiModelPublicId: GPT,
    messageSplittingEnabled: true,
    systemPrompt: 'You help.',
    ...setup,
  });
const contents = (messages: { content: string }[]) => messages.map(({ content }) => content);

describe.each(WIRES)('%s', (_wire, model) => {
  test('a reply of several paragraphs becomes several stored messages; the last one is `message` and has the usage', async () => {
    const agentId = await splitter({ aiModelPublicId: model });
    here.server.script({ reply: WHOLE, usage: { input: 100, output: 50 } });
    const { body } = await send(here.app, agentId, { content: 'Hello.' }).expect(200);
    expect(systemOf(here.server.requests[0])).toMatch(/^You help\.\n\n# Messages\n\n/);
    expect(body.messages).toEqual(PARTS.map((content) => ({ role: 'assistant', content })));
    expect(body.usage).toMatchObject({ inputTokens: 100, outputTokens: 50 });
    const all = await stored(here.app, body.conversationId);
    expect(contents(all)).toEqual(['Hello.', ...PARTS]);
    expect(body.message).toEqual(all.at(-1));
    expect(body.message.tokenUsage).toEqual({ inputTokens: 100, outputTokens: 50, totalTokens: 150 });
    expect(body.message.costUsd).toBe(body.usage.totalCost);
    expect(body.message.costUsd).toBeGreaterThan(0);
    // The sum over the messages counts nothing twice.
    expect(all.map(({ costOps }) => costOps)).toEqual([0, 0, 0, 1]);
    expect(all.slice(1, 3).map(({ tokenUsage, costUsd }) => [tokenUsage?.totalTokens, costUsd])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(body.conversation.messageCount).toBe(4);
    expect((await conversation(here.app, body.conversationId)).messageCount).toBe(4);
  });

  test('later turns show the model the reply in one piece', async () => {
    const agentId = await splitter({ aiModelPublicId: model });
    here.server.script({ reply: WHOLE });
    const { body } = await send(here.app, agentId, { content: 'Hello.' }).expect(200);
    await send(here.app, agentId, { content: 'Green.', conversationId: body.conversationId }).expect(200);
    const [, ...messages] = said(here.server.requests[1]).filter((each) => !each.startsWith('system: '));
    expect(messages).toEqual([`assistant: ${WHOLE}`, 'user: Green.']);
  });
});

test('a stream carries the whole text, and the messages are stored apart', async () => {
  const agentId = await splitter();
  here.server.script({ reply: WHOLE.match(/.{1,9}/gs) ?? [] });
  const { text, debug, conversationId } = await streamed(here.app, agentId, { content: 'Hello.' });
  expect(text).toBe(WHOLE);
  const all = await stored(here.app, conversationId);
  expect(contents(all).slice(1)).toEqual(PARTS);
  expect(debug.messagePublicId).toBe(all.at(-1)?.publicId);
});

test('the list of conversations has the last message as its snippet', async () => {
  const agentId = await splitter();
  here.server.script({ reply: WHOLE });
  await send(here.app, agentId, { content: 'Hello.', externalUserId: 'reader' }).expect(200);
  const { body } = await here.app.api('get', '/conversations?externalUserId=reader').expect(200);
  expect(body.items[0]).toMatchObject({ lastMessageSnippet: PARTS[2], messageCount: 4 });
});

test('text before and after a call becomes messages of its own, and later turns see each where it was said', async () => {
  const shop = (await postTool(here.app, here.tools, '/shop')).publicId;
  here.tools.on('/shop', answering('{"tea":"green"}'));
  const setup = { aiModelPublicId: GPT, messageSplittingEnabled: true };
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: shop }], setup);
  here.server.script(
    { reply: `${PARTS[0]}`, toolCalls: [toolCall('shop', { city: 'Oslo' })] },
    { reply: `${PARTS[1]}\n\n${PARTS[2]}` },
  );
  const { body } = await send(here.app, agentId, { content: 'Hello.' }).expect(200);
  expect(contents(body.messages)).toEqual(PARTS);
  await send(here.app, agentId, { content: 'Green.', conversationId: body.conversationId }).expect(200);
  const later = here.server.requests[2];
  expect(resultsOf(later).map(({ text }) => text)).toEqual(['{"tea":"green"}']);
  const whole = JSON.stringify(later?.body);
  const places = [PARTS[0] ?? '', 'call_shop', PARTS[1] ?? '', PARTS[2] ?? ''].map((part) => whole.indexOf(part));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  for (const part of PARTS) expect(whole.split(part)).toHaveLength(2);
});

test('a short reply and a reply of one paragraph are one message each', async () => {
  const agentId = await splitter();
  for (const reply of ['Yes.', 'One.\n\nTwo.', PARTS.join(' ')]) {
    here.server.script({ reply });
    const { body } = await send(here.app, agentId, { content: 'Hello.' }).expect(200);
    expect(contents(body.messages)).toEqual([reply]);
  }
});

test('a reply that waits for approval stays whole', async () => {
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: pay }], { messageSplittingEnabled: true });
  here.server.script({ reply: WHOLE, toolCalls: [toolCall('pay', { city: 'Oslo' })] });
  const { body } = await send(here.app, agentId, { content: 'Pay.' }).expect(200);
  expect(body.messages).toHaveLength(1);
  expect(body.message.content).toMatch(/^Good morning.*guest\?\n\nBefore I go on, a person has to approve:\n- pay /s);
});

test('with the feature off a reply is one message, and the prompt does not mention splitting', async () => {
  const agentId = await splitter({ messageSplittingEnabled: false });
  here.server.script({ reply: WHOLE });
  const { body } = await send(here.app, agentId, { content: 'Hello.' }).expect(200);
  expect(systemOf(here.server.requests[0])).toBe('You help.');
  expect(contents(body.messages)).toEqual([WHOLE]);
  expect(await transcript(here.app, body.conversationId)).toHaveLength(2);
});

test('the reply of a turn that decides on approvals is split too', async () => {
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: pay }], { messageSplittingEnabled: true });
  here.server.script({ reply: '', toolCalls: [toolCall('pay', { city: 'Oslo' })] });
  const { body } = await send(here.app, agentId, { content: 'Pay.' }).expect(200);
  here.server.script({ reply: WHOLE });
  const { conversationId } = body;
  const { body: end } = await send(here.app, agentId, { content: 'approve', conversationId }).expect(200);
  expect(contents(end.messages)).toEqual(PARTS);
});
