import { makeRichAgent, useShop } from '../../support/agents/richAgent.ts';
import { stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import type { RecordedRequest } from '../../support/servers/modelServer.ts';
import {
  besideOf,
  lastResult,
  resultsOf,
  streamed,
  systemOf,
  toolCall,
  toolNames,
  WIRES,
} from '../../support/turns/exchanges.ts';
import { conversation, said, send, stored } from './turns.ts';

/* One agent that has everything, and one conversation that uses it. */

const here = useShop();

/**
 * Asserts that a request has nothing that providers refuse: calls without results, results without calls, and for Anthropic two
 * consecutive messages of one role.
 */
function expectSound(request: RecordedRequest): void {
  const body = JSON.stringify(request.body);
  const ids = (pattern: RegExp) => Array.from(body.matchAll(pattern), ([, id]) => id);
  const isAnthropic = request.wire === 'anthropic';
  const called = ids(isAnthropic ? /"type":"tool_use","id":"([^"]+)"/g : /"type":"function_call","call_id":"([^"]+)"/g);
  expect(resultsOf(request).map(({ id }) => id)).toEqual(called);
  expect(new Set(called).size).toBe(called.length);
  if (!isAnthropic) return;
  const roles = (request.body.messages as { role: string }[]).map(({ role }) => role);
  expect(roles[0]).toBe('user');
  for (const [place, role] of roles.entries()) expect(role).not.toBe(roles[place + 1]);
}

const PARTS = ['Thank you for your patience with this, Anna.', 'Your order is on its way and will come tomorrow.'];
const UI = { type: 'stat', label: 'Paid back', value: '12 €' };
const ask = (...calls: ReturnType<typeof toolCall>[]) => ({ reply: '', toolCalls: calls });
const paths = () => here.tools.received.map(({ url, body }) => `${url} ${JSON.parse(body).order}`);

test.each(WIRES)('%s: six turns, with everything that an agent can use', async (wire, model) => {
  const externalUserId = `anna-${wire}`;
  const metadata = { variables: { customer: 'Anna', tone: 'brief' } };
  const agentId = await makeRichAgent(here.app, here.shop, `Shop ${wire}`, { aiModelPublicId: model });
  const expert = `delegate_to_Shop_${wire}_expert`;
  const last = () => here.server.requests.at(-1);

  // 1: the model replies from the knowledge in the prompt, and remembers a fact.
  here.server.script(ask(toolCall('remember', { fact: 'Drinks green tea only.' })), {
    reply: 'Within 30 days (Handbook & FAQ).',
  });
  const opening = { content: 'I drink green tea only. Can orders be sent back?', externalUserId, metadata };
  const { body: first } = await send(here.app, agentId, opening).expect(200);
  const { conversationId } = first;
  const say = async (content: string) => (await send(here.app, agentId, { content, conversationId }).expect(200)).body;
  expect(systemOf(here.server.requests[0])).toMatch(/^You sell tea to Anna\.\n\nBe brief\.\n\n# Messages\n/);
  expect(besideOf(here.server.requests[0])).toContain(
    '<passage source="Handbook &amp; FAQ">\n[Returns, page 2]\nOrders can',
  );
  expect(toolNames(here.server.requests[0])).toEqual([
    'search_knowledge',
    'read_skill',
    'remember',
    'recall',
    'forget',
    'web_search',
    'run_javascript',
    'show_ui',
    expert,
    'track_order',
    'refund_order',
    'echo',
    'calculate',
  ]);
  expect(lastResult(last()).text).toMatch(/^Remembered as /);
  expect(first.message.content).toBe('Within 30 days (Handbook & FAQ).');

  // 2: a slash command and an HTTP tool; the reply is two messages.
  here.server.script(ask(toolCall('track_order', { order: '4711' })), { reply: PARTS.join('\n\n') });
  const tracked = await say('/track 4711');
  expect(said(here.server.requests[2]).at(-1)).toBe('user: Tell where this order is:\n\n4711');
  expect(paths()).toEqual(['/track_order 4711']);
  expect(tracked.messages.map(({ content }: { content: string }) => content)).toEqual(PARTS);
  // The fact of the turn before is in the prompt.
  expect(besideOf(last())).toContain('] Drinks green tea only.');

  // 3: in parallel a sub-agent, an external server, a toolkit and the sandbox.
  here.server.script(
    ask(
      toolCall(expert, { task: 'Which tea is green?' }),
      toolCall('echo', { text: 'hello' }),
      toolCall('calculate', { expression: '3 * 4' }),
      toolCall('run_javascript', { code: '3 + 4' }),
    ),
    { reply: 'Sencha.' },
    { reply: 'Sencha, 12 and 7.' },
  );
  const several = await say('Do four things.');
  expect(said(here.server.requests[5])).toEqual([
    expect.stringMatching(/: You know all of tea\. The customer is Anna\.$/),
    'user: Which tea is green?',
  ]);
  const four = resultsOf(last()).slice(-4);
  expect(four.map(({ isError }) => isError)).toEqual([false, false, false, false]);
  expect(four.map(({ text }) => text)).toEqual(['Sencha.', 'echo: hello', expect.stringContaining('12'), 'Result: 7']);
  expect(several.message.content).toBe('Sencha, 12 and 7.');

  // 4: the model reads a skill, and makes a call that waits for approval.
  here.server.script(ask(toolCall('read_skill', { skill: 'complaints' })), {
    reply: 'I am sorry.',
    toolCalls: [toolCall('refund_order', { order: '4711' })],
  });
  const waiting = await say('It came broken. I want my money back.');
  expect(lastResult(last()).text).toContain('Say sorry first.');
  expect(waiting.pendingApprovals).toMatchObject([{ toolName: 'refund_order', input: { order: '4711' } }]);
  expect(waiting.message.content).toMatch(/^I am sorry\.\n\nBefore I go on, a person has to approve:\n- refund_order /);
  expect(paths()).toHaveLength(1);

  // 5: the user approves the call; the reply has components.
  here.server.script(ask(toolCall('show_ui', { ui: UI })), { reply: 'It is paid back.' });
  const paid = await say('approve');
  expect(paths()).toEqual(['/track_order 4711', '/refund_order 4711']);
  expect(paid).toMatchObject({ pendingApprovals: [], message: { content: 'It is paid back.', ui: UI } });

  // 6: a stream, whose prompt has all earlier turns.
  here.server.script({ reply: ['All ', 'is ', 'well.'] });
  const bye = await streamed(here.app, agentId, { content: 'Sum it up.', conversationId });
  expect(bye.text).toBe('All is well.');
  const seen = resultsOf(last()).map(({ text }) => text);
  expect(seen).toHaveLength(9);
  expect(seen).toEqual(expect.arrayContaining(['{"track_order":"done"}', 'Sencha.', '{"refund_order":"done"}']));
  expect(said(last())).toContain(`assistant: ${PARTS.join('\n\n')}`);

  // Every request was one that the provider accepts.
  for (const request of here.server.requests) expectSound(request);

  // The stored messages and their costs match the responses.
  const all = await stored(here.app, conversationId);
  expect(all.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
  expect((await conversation(here.app, conversationId)).messageCount).toBe(all.length);
  const turns = await turnsOf(here.app, conversationId);
  expect(turns.map(({ status, kind }) => [status, kind])).toEqual(Array(6).fill(['done', 'message']));
  const steps = await stepsOf(here.app, conversationId);
  const sum = (values: (number | null | undefined)[]) =>
    values.reduce<number>((total, each) => total + Number(each ?? 0), 0);
  const models = steps.filter(({ kind }) => kind === 'model');
  expect(models).toHaveLength(here.server.requests.length);
  expect(sum(models.map((each) => each.input_tokens))).toBe(11 * here.server.requests.length);
  expect(sum(turns.map((each) => each.input_tokens))).toBe(11 * here.server.requests.length);
  expect(sum(all.map((each) => each.tokenUsage?.inputTokens))).toBe(11 * here.server.requests.length);
  expect(sum(all.map((each) => each.costUsd))).toBeCloseTo(sum(steps.map((each) => Number(each.cost_usd))), 8);
  expect(sum(all.map((each) => each.costOps))).toBe(6);
  expect(steps.filter(({ status }) => status !== 'done').map(({ name, status }) => [name, status])).toEqual([
    ['refund_order', 'waiting'],
  ]);

  // Another conversation of the same user begins with her facts.
  await send(here.app, agentId, { content: 'Hello.', externalUserId, metadata }).expect(200);
  expect(besideOf(last())).toContain('] Drinks green tea only.');
  expect(said(last()).filter((each) => each.startsWith('assistant'))).toEqual([]);
});
