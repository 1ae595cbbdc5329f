import { agentWith } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { lastResult, streamed, systemOf, toolCall, toolNames, WIRES } from '../../support/turns/exchanges.ts';
import { type AgentSetup, GPT, publishedAgent, said, send, stored } from './turns.ts';

const here = useModelApp();

const UI = {
  type: 'card',
  title: 'Oslo',
  children: [
    { type: 'table', columns: ['Day', 'Sky'], rows: [['Monday', 'clear']] },
    { type: 'button', label: 'More', message: 'Show the week.' },
  ],
};
const show = (ui: unknown, id?: string) => ({ reply: '', toolCalls: [toolCall('show_ui', { ui }, id)] });
const shower = (setup: AgentSetup = {}) =>
  publishedAgent(here.app, { aiModelPublicId: GPT, genuiEnabled: true, systemPrompt: 'You help.', ...setup });

describe.each(WIRES)('%s', (_wire, model) => {
  test('components that the model shows are returned with the reply and stored with it', async () => {
    const agentId = await shower({ aiModelPublicId: model });
    here.server.script(show(UI), { reply: 'Here is Monday.' });
    const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
    expect(systemOf(here.server.requests[0])).toMatch(/^You help\.\n\n# Generative UI\n\n/);
    expect(toolNames(here.server.requests[0])).toEqual(['show_ui']);
    expect(lastResult(here.server.requests[1])).toMatchObject({ isError: false });
    expect(body.message).toMatchObject({ content: 'Here is Monday.', ui: UI });
    const [question, reply] = await stored(here.app, body.conversationId);
    expect([question?.ui, reply?.ui]).toEqual([null, UI]);
  });

  test('the model gets the errors of an invalid tree and may send a corrected one', async () => {
    const agentId = await shower({ aiModelPublicId: model });
    const wrong = {
      type: 'stack',
      children: [
        { type: 'video', url: 'x' },
        { type: 'link', url: 'javascript:1', text: 'x' },
      ],
    };
    here.server.script(show(wrong, 'c1'), show(UI, 'c2'), { reply: 'There.' });
    const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
    const told = lastResult(here.server.requests[1]);
    expect(told.isError).toBe(true);
    expect(told.text).toContain('ui.children[0].type: there is no component "video"');
    expect(told.text).toContain('ui.children[1].url must be an address that begins with https://');
    expect(body.message.ui).toEqual(UI);
  });
});

test('a reply after invalid trees only has no components, and neither has the next reply of the conversation', async () => {
  const agentId = await shower();
  here.server.script(show({ type: 'nothing' }), { reply: 'Only words.' });
  const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
  expect(body.message.ui).toBeNull();
  const { conversationId } = body;
  here.server.script(show(UI), { reply: 'With a table.' }, { reply: 'Thanks.' });
  await send(here.app, agentId, { content: 'A table.', conversationId }).expect(200);
  const { body: last } = await send(here.app, agentId, { content: 'Thanks.', conversationId }).expect(200);
  expect(last.message.ui).toBeNull();
  expect((await stored(here.app, conversationId)).map(({ ui }) => ui)).toEqual([null, null, null, UI, null, null]);
});

test('only the tree that was shown last is kept', async () => {
  const agentId = await shower();
  const second = { type: 'text', text: 'Better.' };
  here.server.script(show(UI, 'c1'), show(second, 'c2'), { reply: 'So.' });
  const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
  expect(body.message.ui).toEqual(second);
});

test('characters that PostgreSQL cannot store are removed from the components', async () => {
  const agentId = await shower();
  here.server.script(show({ type: 'text', text: 'a\0b \ud83e' }), { reply: 'So.' });
  const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
  expect(body.message.ui).toEqual({ type: 'text', text: expect.stringMatching(/^a\ufffd?b \ufffd$/) });
});

test('of several messages the last has the components', async () => {
  const agentId = await shower({ messageSplittingEnabled: true });
  const parts = ['This is the first thing that I have to say.', 'And this is the second, with a table below.'];
  here.server.script(show(UI), { reply: parts.join('\n\n') });
  const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
  expect(body.messages.map(({ content }: { content: string }) => content)).toEqual(parts);
  expect((await stored(here.app, body.conversationId)).map(({ ui }) => ui)).toEqual([null, null, UI]);
});

test('a stream has the components in its stored message, and not in its text', async () => {
  const agentId = await shower();
  here.server.script(show(UI), { reply: ['Here ', 'it is.'] });
  const { text, debug, conversationId } = await streamed(here.app, agentId, { content: 'How is Oslo?' });
  expect(text).toBe('Here it is.');
  expect((await stored(here.app, conversationId)).at(-1)).toMatchObject({ publicId: debug.messagePublicId, ui: UI });
});

test('the message of a button comes back as the user’s next message', async () => {
  const agentId = await shower();
  here.server.script(show(UI), { reply: 'Here is Monday.' });
  const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
  const { conversationId } = body;
  await send(here.app, agentId, { content: 'Show the week.', conversationId }).expect(200);
  expect(said(here.server.requests[2]).at(-1)).toBe('user: Show the week.');
  // The history still has the components that the model showed.
  expect(JSON.stringify(here.server.requests[2]?.body)).toContain('Monday');
});

test('a sub-agent cannot show components: it replies to its parent only', async () => {
  const subId = await shower({ name: 'Shower' });
  const agentId = await agentWith(here.app, [{ kind: 'sub_agent', id: subId }], { aiModelPublicId: GPT });
  here.server.script({ reply: '', toolCalls: [toolCall('delegate_to_Shower', { task: 'Show it.' })] });
  await send(here.app, agentId, { content: 'Go.' }).expect(200);
  expect(toolNames(here.server.requests[1])).toEqual([]);
  expect(systemOf(here.server.requests[1])).toBe('You help.');
});

test('with the feature off there is neither a section in the prompt nor a tool', async () => {
  const agentId = await shower({ genuiEnabled: false });
  await send(here.app, agentId, { content: 'Go.' }).expect(200);
  expect(systemOf(here.server.requests[0])).toBe('You help.');
  expect(toolNames(here.server.requests[0])).toEqual([]);
});
