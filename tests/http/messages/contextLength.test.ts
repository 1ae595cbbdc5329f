import { agentWith, postTool, stepsOf } from '../../support/agents/runtimeAgents.ts';
import type { TestClock } from '../../support/http/app.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { streamed, toolCall } from '../../support/turns/exchanges.ts';
import { begun, LOCAL, publishedAgent, said, send } from './turns.ts';

/** As a real server had it, whose model was taken to have 128,000. */
const WINDOW = 24_576;
const REMEDY =
  'The OpenAI-compatible server finds the request longer than the context window of 24,576 tokens of local-model. Shorten the prompt of the agent or the message, or link fewer tools. If the window is not what the server has, set OPENAI_COMPATIBLE_MODELS to local-model@24576.';

const here = useModelApp({ tools: true });
let look: string;
beforeAll(async () => {
  here.tools.on('/look', answering(JSON.stringify({ seen: 'Oslo fjord '.repeat(3_500) })));
  look = (await postTool(here.app, here.tools, '/look')).publicId;
});
beforeEach(() => {
  // What an earlier test has taught is forgotten.
  (here.app.clock as TestClock).advance(3_600_000);
  here.server.window = WINDOW;
});

/** A text of about so many tokens. */
const words = (count: number) => Array(count).fill('lorem').join(' ');
const looking = (id: string) => toolCall('look', { city: 'Oslo' }, id);

/** A conversation of about so many thousand tokens. */
async function grown(agentId: string, thousands: number, key?: string): Promise<string> {
  here.server.window = undefined;
  const conversationId = await begun(here.app, agentId, 'The very first.', key);
  for (let turn = 0; turn < thousands / 4; turn += 1) {
    await send(here.app, agentId, { content: `Question ${turn}: ${words(4_000)}`, conversationId }, key).expect(200);
  }
  here.server.window = WINDOW;
  here.server.requests.length = 0;
  return conversationId;
}

describe('a conversation that outgrows the window of its model', () => {
  test('goes on without its oldest turns, and the next message is not refused', async () => {
    const agentId = await publishedAgent(here.app, { systemPrompt: 'Stay the same.' });
    const conversationId = await grown(agentId, 40);
    const { body } = await send(here.app, agentId, { content: 'And now?', conversationId }).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Hello from the model.' }]);
    const answered = said(here.server.requests.at(-1));
    expect(answered[0]).toBe('system: Stay the same.');
    expect(answered.at(-1)).toBe('user: And now?');
    expect(answered.length).toBeGreaterThan(4);
    expect(here.server.refused).toHaveLength(here.server.requests.length - 1);
    expect(here.server.refused.length).toBeGreaterThan(0);

    here.server.refused.length = 0;
    for (const content of ['And then?', words(3_000), words(3_000)]) {
      await send(here.app, agentId, { content, conversationId }).expect(200);
    }
    expect(here.server.refused).toEqual([]);
  });

  test('is told in the log: what was refused, and what was answered', async () => {
    const agentId = await publishedAgent(here.app);
    const conversationId = await grown(agentId, 40);
    await send(here.app, agentId, { content: 'And now?', conversationId }).expect(200);
    const steps = (await stepsOf(here.app, conversationId)).slice(-here.server.requests.length);
    expect(steps.map(({ status }) => status)).toEqual([...here.server.refused.map(() => 'failed'), 'done']);
    expect(steps[0]?.output).toEqual({ error: REMEDY });
  });

  test('goes on in a stream, which shows the answer alone', async () => {
    const agentId = await publishedAgent(here.app);
    const conversationId = await grown(agentId, 40);
    const { text } = await streamed(here.app, agentId, { content: 'And now?', conversationId });
    expect(text).toBe('Hello from the model.');
    expect(here.server.refused.length).toBeGreaterThan(0);
  });

  test('goes on where the provider does not say what fits', async () => {
    const agentId = await publishedAgent(here.app);
    const conversationId = await grown(agentId, 40);
    here.server.window = undefined;
    here.server.script({ status: 400, message: 'Please reduce the length of the messages or completion.' });
    await send(here.app, agentId, { content: 'And now?', conversationId }).expect(200);
    const [whole, cut] = here.server.requests.map((request) => said(request).length);
    expect(cut).toBeLessThan(whole ?? 0);
  });

  test.each([
    ['blocking', false],
    ['streamed', true],
  ])('in the middle of a turn, the tool is called once (%s)', async (_how, isStreamed) => {
    const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: look }], { aiModelPublicId: LOCAL });
    const conversationId = await grown(agentId, 20);
    here.tools.received.length = 0;
    here.server.script({ reply: 'I look.', toolCalls: [looking('call_1')] }, { reply: 'It is wet.' });
    const message = { content: 'How is Oslo?', conversationId };
    const text = isStreamed
      ? (await streamed(here.app, agentId, message)).text
      : (await send(here.app, agentId, message).expect(200)).body.messages[0].content;
    expect(text).toBe('I look.\n\nIt is wet.');
    expect(here.tools.received).toHaveLength(1);
    expect(here.server.refused.length).toBeGreaterThan(0);
    const answered = here.server.requests.at(-1);
    expect(
      said(answered)
        .filter((line) => line.startsWith('user: '))
        .at(-1),
    ).toBe('user: How is Oslo?');
    expect(JSON.stringify(answered?.body)).toContain('Oslo fjord');
  });

  test('a sub-agent whose tools return more than fits answers its parent', async () => {
    const subId = await agentWith(here.app, [{ kind: 'http_tool', id: look }], {
      name: 'Desk',
      aiModelPublicId: LOCAL,
    });
    const agentId = await agentWith(here.app, [{ kind: 'sub_agent', id: subId }], { aiModelPublicId: LOCAL });
    here.server.script(
      { reply: '', toolCalls: [toolCall('delegate_to_Desk', { task: 'Look at Oslo.' })] },
      { reply: '', toolCalls: [1, 2, 3, 4].map((n) => looking(`call_${n}`)) },
      { reply: 'Wet.' },
      { reply: 'The desk says: wet.' },
    );
    const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
    expect(body.messages[0].content).toBe('The desk says: wet.');
    expect(here.server.refused.length).toBeGreaterThan(0);
  });
});

describe('a request that cannot be cut', () => {
  test('fails at once and names what helps, and the conversation goes on', async () => {
    const agentId = await publishedAgent(here.app);
    const conversationId = await begun(here.app, agentId);
    here.server.requests.length = 0;
    here.server.window = 2_000;
    const { body } = await send(here.app, agentId, { content: words(4_000), conversationId }).expect(502);
    expect(body).toMatchObject({
      code: 'MODEL_PROVIDER_ERROR',
      message: REMEDY.replace('24,576', '2,000').replace('24576', '2000'),
    });
    expect(here.server.requests.length).toBeLessThanOrEqual(2);
    await send(here.app, agentId, { content: 'And now?', conversationId }).expect(200);
  });

  test('is made five times at most when the provider always finds it too long', async () => {
    const agentId = await publishedAgent(here.app);
    const conversationId = await grown(agentId, 40);
    here.server.window = 1;
    const { body } = await send(here.app, agentId, { content: 'And now?', conversationId }).expect(502);
    expect(body.message).toMatch(/longer than the context window of 1 tokens/);
    expect(here.server.requests.length).toBeGreaterThan(1);
    expect(here.server.requests.length).toBeLessThanOrEqual(5);
    // Nothing was learnt from it.
    here.server.window = WINDOW;
    await send(here.app, agentId, { content: 'And now?', conversationId }).expect(200);
    expect(said(here.server.requests.at(-1)).length).toBeGreaterThan(4);
  });
});

describe('what a refused request teaches of the window', () => {
  const sentMessages = () => said(here.server.requests.at(-1)).length;

  test('is for the workspace that sent it: the history of another one stays whole', async () => {
    const [own, other] = [await publishedAgent(here.app), await publishedAgent(here.app, {}, here.app.stranger.apiKey)];
    const conversationId = await grown(own, 40);
    const elsewhere = await grown(other, 40, here.app.stranger.apiKey);
    here.server.window = undefined;
    const refusal = { status: 400, message: 'Please reduce the length of the messages or completion.' };
    here.server.script(refusal, refusal, refusal);
    await send(here.app, own, { content: 'And now?', conversationId }).expect(200);
    const message = { content: 'And now?', conversationId: elsewhere };
    await send(here.app, other, message, here.app.stranger.apiKey).expect(200);
    expect(sentMessages()).toBe(23);
    await send(here.app, own, { content: 'And then?', conversationId }).expect(200);
    expect(sentMessages()).toBeLessThan(23);
  });

  test.each([
    ['a 413, which attachments have too', 413, 'Payload Too Large'],
    ['a text that quotes the user', 400, 'Invalid message: the house rules say that the prompt is too long for us'],
  ])('is nothing where the error may be about something else: %s', async (_what, status, message) => {
    const agentId = await publishedAgent(here.app);
    const conversationId = await grown(agentId, 40);
    here.server.window = undefined;
    here.server.script(...Array(3).fill({ status, message }));
    const content = 'the house rules say that the prompt is too long for us';
    await send(here.app, agentId, { content, conversationId }).expect(200);
    expect(here.server.requests).toHaveLength(4);
    expect(sentMessages()).toBeLessThan(23);
    await send(here.app, agentId, { content: 'And then?', conversationId }).expect(200);
    expect(sentMessages()).toBe(25);
  });
});
