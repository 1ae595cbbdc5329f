import { readFile } from 'node:fs/promises';
import { LOCAL, publishedAgent, send } from '../../http/messages/turns.ts';
import { makeRichAgent, useShop } from '../../support/agents/richAgent.ts';
import type { RecordedRequest } from '../../support/servers/modelServer.ts';
import { PRESENT, saidNow, systemOf, toolCall } from '../../support/turns/exchanges.ts';

const here = useShop();

/** A request in a readable form: every message in full, in the terms of chat completions, and the tools. */
function readable(request: RecordedRequest | undefined): string {
  const body = (request?.body ?? {}) as {
    messages: { role: string; content: string | null; tool_calls?: object[]; tool_call_id?: string }[];
    tools: { function: { name: string; description: string } }[];
  };
  const messages = body.messages.map(({ role, content, tool_calls: calls, tool_call_id: id }) =>
    [
      `=== ${role}${id === undefined ? '' : ` (${id})`}`,
      content ?? '',
      ...(calls ?? []).map((call) => JSON.stringify(call)),
    ]
      .filter((line) => line !== '')
      .join('\n'),
  );
  const described = body.tools.map(({ function: { name, description } }) => `--- ${name}\n${description}`);
  return `${[...messages, '=== tools', ...described].join('\n')}\n`;
}

/** The facts in memory. The prompt shows their ids, so these are fixed and end in 0 and 1. */
const FACTS = ['Likes green tea.', 'Lives in Oslo.'];
async function rememberFacts(agentId: string, externalUserId: string): Promise<void> {
  const { db, workspaceId } = here.app.workspace;
  for (const [place, fact] of FACTS.entries()) {
    const at = new Date(Date.UTC(2026, 0, 1 + place));
    await db
      .insertInto('memories')
      .values({
        workspace_id: workspaceId,
        id: `019a0000-0000-7000-8000-00000000000${place}`,
        agent_id: agentId,
        fact,
        external_user_id: externalUserId,
        created_at: at,
        updated_at: at,
      })
      .execute();
  }
}

test('an agent that has everything sends exactly this to its model, in the second turn of a conversation', async () => {
  const agentId = await makeRichAgent(here.app, here.shop, 'Shop', { aiModelPublicId: LOCAL });
  await rememberFacts(agentId, 'anna');
  here.server.script(
    { reply: 'Let me look.', toolCalls: [toolCall('track_order', { order: '4711' })] },
    { reply: 'It is on its way to you, and it will come tomorrow.\n\nIs there anything else that I can do for you?' },
  );
  const metadata = { variables: { customer: 'Anna' } };
  const first = { content: '/track 4711', externalUserId: 'anna', metadata };
  const { body } = await send(here.app, agentId, first).expect(200);
  const second = { content: 'Can I send it back?', conversationId: body.conversationId };
  await send(here.app, agentId, second).expect(200);
  const golden = await readFile(new URL('./golden.txt', import.meta.url), 'utf8');
  expect(
    readable(here.server.requests[2]).replaceAll(new RegExp(PRESENT, 'g'), 'Now: Monday, 2026-11-23, 14:05, UTC.'),
  ).toBe(golden);
});

test('a sub-agent gets its own prompt and the task, and no sections that are meant for people', async () => {
  const agentId = await makeRichAgent(here.app, here.shop, 'Other', { aiModelPublicId: LOCAL });
  here.server.script({ reply: '', toolCalls: [toolCall('delegate_to_Other_expert', { task: 'Which tea is green?' })] });
  const metadata = { variables: { customer: 'Anna' } };
  await send(here.app, agentId, { content: 'Which tea is green?', metadata }).expect(200);
  expect(here.server.requests[1]?.body.messages).toEqual([
    { role: 'system', content: 'You know all of tea. The customer is Anna.' },
    { role: 'user', content: saidNow('Which tea is green?') },
  ]);
});

test('the sections have a fixed order: the agent’s prompt, its features, knowledge, memory, skills', async () => {
  const golden = await readFile(new URL('./golden.txt', import.meta.url), 'utf8');
  const system = golden.slice(0, golden.indexOf('=== user'));
  expect(system.startsWith('=== system\nYou sell tea to Anna.\n\nBe kind.\n\n# ')).toBe(true);
  expect(system.match(/^# .*/gm)).toEqual([
    '# Messages',
    '# Web search',
    '# Sandbox',
    '# Generative UI',
    '# Knowledge',
    '# Memory',
    '# Skills',
  ]);
});

test('the prompt does not mention capabilities that the agent lacks', async () => {
  const plain = await publishedAgent(here.app, { aiModelPublicId: LOCAL, systemPrompt: '  You sell tea.\n' });
  await send(here.app, plain, { content: 'Hello.' }).expect(200);
  expect(here.server.requests[0]?.body.messages).toEqual([
    { role: 'system', content: '  You sell tea.\n' },
    { role: 'user', content: saidNow('Hello.') },
  ]);
  expect(here.server.requests[0]?.body.tools).toBeUndefined();
  const empty = await publishedAgent(here.app, { aiModelPublicId: LOCAL, systemPrompt: ' \n ' });
  await send(here.app, empty, { content: 'Hello.' }).expect(200);
  expect(here.server.requests[1]?.body.messages).toEqual([{ role: 'user', content: saidNow('Hello.') }]);
});

test('without a system prompt of the agent the prompt begins with the section of a feature', async () => {
  const agentId = await publishedAgent(here.app, { aiModelPublicId: LOCAL, sandboxEnabled: true });
  await send(here.app, agentId, { content: 'Hello.' }).expect(200);
  expect(systemOf(here.server.requests[0])).toMatch(/^# Sandbox\n\n/);
});

test('references in a message are not expanded, and neither are references in a value', async () => {
  const agentId = await publishedAgent(here.app, {
    aiModelPublicId: LOCAL,
    systemPrompt: 'For {{customer}}.',
    dynamicPromptEnabled: true,
    variables: [{ name: 'customer', label: 'Customer', type: 'text_short' }],
  });
  const metadata = { variables: { customer: '{{customer}} $&' } };
  await send(here.app, agentId, { content: 'I am {{customer}}.', metadata }).expect(200);
  expect(here.server.requests[0]?.body.messages).toEqual([
    { role: 'system', content: 'For {{customer}} $&.' },
    { role: 'user', content: saidNow('I am {{customer}}.') },
  ]);
});
