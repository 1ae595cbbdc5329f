import { randomBytes } from 'node:crypto';
import { RequestReader, type WholeRequest } from '../../../runtime/agent/storedRequest.ts';
import { inline, PNG, TEXT } from '../../runtime/files/attachmentSamples.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { startTestApp } from '../../support/http/app.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { streamed } from '../../support/turns/exchanges.ts';
import { customModel, GPT, publishedAgent, send } from './turns.ts';

const here = useModelApp({ tools: true });
let weather: string;

beforeAll(async () => {
  here.tools.on('/weather', answering('{"sky":"clear"}'));
  weather = (await postTool(here.app, here.tools, '/weather')).publicId;
});

const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' };

/** What the models of a conversation were sent, as the log has it. */
async function logged(conversationId: string): Promise<(WholeRequest | undefined)[]> {
  const { db, workspaceId } = here.app.workspace;
  const steps = await stepsOf(here.app, conversationId);
  const reader = new RequestReader(db, workspaceId);
  return await Promise.all(
    steps.filter(({ kind }) => kind === 'model').map(({ turn_id, seq }) => reader.read(turn_id, seq)),
  );
}

/** The same, as the provider received it: roles and texts, results and the names of calls. */
function received(): { system: string; tools: string[]; messages: string[] }[] {
  return here.server.requests.map(({ body }) => {
    const [system, ...messages] = body.messages as { role: string; content: string; tool_calls?: object[] }[];
    const tools = (body.tools ?? []) as { function: { name: string } }[];
    return {
      system: system?.content ?? '',
      tools: tools.map((tool) => tool.function.name),
      messages: messages.map(({ role, content, tool_calls }) => `${role} ${content ?? ''} ${tool_calls?.length ?? 0}`),
    };
  });
}

/** The log has apart from a message what stands beside it. */
function joined(messages: WholeRequest['messages']): WholeRequest['messages'] {
  return messages.flatMap((message, place) => {
    const next = messages[place + 1];
    if ('beside' in message) return [];
    if (!next || !('beside' in next) || !('content' in message) || typeof message.content !== 'string')
      return [message];
    return [{ role: 'user', content: `${message.content}\n\n${next.beside}` }];
  });
}

/** The log in the same form. */
const told = (request: WholeRequest | undefined) => ({
  system: request?.system,
  tools: request?.tools?.map(({ name }) => name),
  messages: joined(request?.messages ?? []).flatMap((message) => {
    if ('omitted' in message || 'beside' in message) return ['omitted'];
    if (message.role === 'tool') return message.content.map(({ text }) => `tool ${text} 0`);
    const { content } = message;
    if (typeof content === 'string') return [`${message.role} ${content} 0`];
    const texts = content.map((part) => ('text' in part ? part.text : ''));
    return [`${message.role} ${texts.join('')} ${content.filter(({ type }) => type === 'tool-call').length}`];
  }),
});

test('the log has every request as the provider was sent it, over turns, steps and replicas', async () => {
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: weather }], { systemPrompt: 'You report.' });
  here.server.script({ reply: 'Let me look.', toolCalls: [call] }, { reply: 'Clear.' });
  const { conversationId } = (await send(here.app, agentId, { content: 'Oslo?' }).expect(200)).body;
  for (const content of ['And now?', 'Are you sure?']) {
    here.server.script({ reply: 'One moment.', toolCalls: [call] }, { reply: `Still clear: ${content}` });
    await send(here.app, agentId, { content, conversationId }).expect(200);
  }
  // Another process does not know what this one has stored.
  const replica = await startTestApp({ models: here.server.settings(), database: here.app.database });
  for (const content of ['Really?', 'Good.']) {
    await send(replica, agentId, { content, conversationId }, here.app.workspace.apiKey).expect(200);
  }
  await replica.close();
  const requests = await logged(conversationId);
  expect(requests).toHaveLength(8);
  expect(requests.map(told)).toEqual(received());
  expect(requests.at(-1)?.tools?.[0]).toMatchObject({ name: 'weather', inputSchema: { type: 'object' } });
  expect(requests.every((request) => request?.missingMessages === 0)).toBe(true);
});

test('of a sub-agent, of a streamed turn and of a call that the provider refused, too', async () => {
  const desk = await agentWith(here.app, [{ kind: 'http_tool', id: weather }], {
    name: 'Desk',
    systemPrompt: 'You know.',
  });
  const boss = await agentWith(here.app, [{ kind: 'sub_agent', id: desk }], { name: 'Boss', systemPrompt: 'You ask.' });
  const delegate = { id: 'call_2', name: 'delegate_to_Desk', arguments: '{"task":"Oslo?"}' };
  here.server.script(
    { reply: 'I ask.', toolCalls: [delegate] },
    { reply: 'I look.', toolCalls: [call] },
    { reply: 'Clear.' },
    { reply: 'It is clear.' },
  );
  const { conversationId } = await streamed(here.app, boss, { content: 'How is Oslo?' });
  here.server.script({ status: 400, message: 'No.' });
  await send(here.app, boss, { content: 'And now?', conversationId }).expect(502);
  const requests = await logged(conversationId);
  expect(requests).toHaveLength(5);
  expect(requests.map(told)).toEqual(received());
});

test('what did not change is stored once: a turn of a long conversation adds little more than its own messages', async () => {
  const systemPrompt = `You report. ${randomBytes(10_000).toString('hex')}`;
  const agentId = await publishedAgent(here.app, { systemPrompt });
  const { conversationId } = (await send(here.app, agentId, { content: randomBytes(15_000).toString('hex') })).body;
  await send(here.app, agentId, { content: 'And now?', conversationId }).expect(200);
  const lengths = (await stepsOf(here.app, conversationId)).map(({ request }) => JSON.stringify(request).length);
  expect(lengths[0]).toBeGreaterThan(30_000);
  expect(lengths[1]).toBeLessThan(1_000);
  expect((await logged(conversationId)).map(told)).toEqual(received());
});

test('the bytes of files are not stored: their name, kind and size are', async () => {
  const agentId = await publishedAgent(here.app, { aiModelPublicId: GPT });
  const attachments = [inline(PNG, { filename: 'dot.png' }), inline(TEXT, { filename: 'plan.txt' })];
  const { body } = await send(here.app, agentId, { content: 'Look.', attachments });
  const [request] = await logged(body.conversationId);
  expect(request?.messages.slice(0, 1)).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'file', name: 'dot.png', mediaType: 'image/png', bytes: PNG.length },
        { type: 'file', name: 'plan.txt', mediaType: 'text/plain', bytes: TEXT.length },
      ],
    },
  ]);
  const row = JSON.stringify((await stepsOf(here.app, body.conversationId))[0]);
  expect(row).not.toContain('Grüße');
  expect(row).not.toContain(PNG.toString('base64').slice(0, 20));
  // The model has both.
  const sent = JSON.stringify(here.server.requests[0]?.body);
  expect(sent).toContain('Grüße, name');
  expect(sent).toContain(PNG.toString('base64'));
});

test('a tool with NUL and half of a surrogate pair in its output is logged and answered', async () => {
  here.tools.on('/odd', answering('{"sky":"a\\u0000b\\ud800c"}'));
  const odd = (await postTool(here.app, here.tools, '/odd')).publicId;
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: odd }], { systemPrompt: 'You report.' });
  here.server.script({ reply: 'I look.', toolCalls: [{ ...call, name: 'odd' }] }, { reply: 'Odd.' });
  const first = await send(here.app, agentId, { content: 'Oslo?' });
  expect(first.status).toBe(200);
  const { conversationId } = first.body;
  expect((await logged(conversationId)).map(told)).toEqual(received());
});

test('a request of 5 MB is logged whole and once', async () => {
  const large = await customModel(here.app.workspace, { contextWindow: 4_000_000 });
  const agentId = await publishedAgent(here.app, { aiModelPublicId: large, systemPrompt: 'You report.' });
  const { conversationId } = (await send(here.app, agentId, { content: 'Hello.' }).expect(200)).body;
  const long = 'Ω "quoted"\n'.repeat(400_000);
  await here.app.workspace.db
    .updateTable('messages')
    .set({ content: long })
    .where('conversation_id', '=', conversationId)
    .where('role', '=', 'user')
    .execute();
  for (const content of ['And now?', 'Still?']) {
    here.server.script({ reply: 'Yes.' });
    await send(here.app, agentId, { content, conversationId }).expect(200);
  }
  const lengths = (await stepsOf(here.app, conversationId)).map(({ request }) => JSON.stringify(request).length);
  expect(lengths[1]).toBeGreaterThan(5_000_000);
  expect(lengths[2]).toBeLessThan(1_000);
  const [, second, third] = await logged(conversationId);
  const [old] = second?.messages ?? [];
  expect(old && 'content' in old && old.content === long).toBe(true);
  expect(third?.messages.slice(1, 3)).toEqual(second?.messages.slice(1, 3));
  // Three messages of the user, each with what stands beside it, and two replies.
  expect(third?.messages).toHaveLength(8);
});

describe('when the conversation is deleted', () => {
  test('what its models were sent is removed, and the steps stay', async () => {
    const agentId = await publishedAgent(here.app);
    const { conversationId } = (await send(here.app, agentId, { content: 'My name is Ada.' })).body;
    const other = (await send(here.app, agentId, { content: 'My name is Bob.' })).body.conversationId;
    await here.app.api('delete', `/conversations/${conversationId}`).expect(204);
    const [step] = await stepsOf(here.app, conversationId);
    expect(step).toMatchObject({ kind: 'model', status: 'done', request: null });
    expect(await logged(other)).toMatchObject([{ messages: [{ role: 'user', content: 'My name is Bob.' }, {}] }]);
  });

  test('a turn that is at work does not store it afterwards', async () => {
    const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: weather }]);
    const { conversationId } = (await send(here.app, agentId, { content: 'Hello.' })).body;
    let deleted: Promise<unknown> | undefined;
    here.tools.on('/weather', (_request, response) => {
      deleted ??= here.app.api('delete', `/conversations/${conversationId}`).expect(204);
      deleted.then(
        () => response.end('{}'),
        () => response.destroy(),
      );
    });
    here.server.script(
      { reply: 'I look.', toolCalls: [call] },
      { reply: 'Done.', toolCalls: [call] },
      { reply: 'End.' },
    );
    await send(here.app, agentId, { content: 'My name is Ada.', conversationId });
    await deleted;
    here.tools.on('/weather', answering('{"sky":"clear"}'));
    const steps = await stepsOf(here.app, conversationId);
    expect(steps.length).toBeGreaterThan(2);
    const nothing = steps.map(() => null);
    expect(steps.map(({ request }) => request)).toEqual(nothing);
    // Nobody goes on with it either.
    expect(steps.map(({ state }) => state)).toEqual(nothing);
    expect(await turnsOf(here.app, conversationId)).toHaveLength(2);
  });
});
