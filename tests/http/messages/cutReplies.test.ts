import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { streamed } from '../../support/turns/exchanges.ts';
import { LOCAL, send, stored } from './turns.ts';

const LENGTH = "[The answer ends here: it reached the model's limit of length.]";
const STEPS =
  '[The agent stopped at its limit of 24 steps. Its work may not be complete: send a message to continue it.]';
const SIZE = '[The answer ends here: it is larger than 1,000 bytes, the limit of this service.]';

const here = useModelApp({ tools: true });
let small: TestApp;
let look: string;
beforeAll(async () => {
  here.tools.on('/look', answering('{"seen":true}'));
  look = (await postTool(here.app, here.tools, '/look')).publicId;
  small = await startTestApp({
    models: here.server.settings({ maxAnswerBytes: 1_000 }),
    allowPrivateNetwork: true,
  });
});
afterAll(() => small.close());

const agent = (app = here.app, links: Parameters<typeof agentWith>[1] = []) =>
  agentWith(app, links, { aiModelPublicId: LOCAL });
const question = { content: 'Tell me.' };

describe('a reply that the model cut at its own limit', () => {
  test('says so, blocking and streamed, and is stored with it', async () => {
    const agentId = await agent();
    here.server.script({ reply: 'It was a dark', finish: 'length' }, { reply: 'It was a dark', finish: 'length' });
    const { body } = await send(here.app, agentId, question).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: `It was a dark\n\n${LENGTH}` }]);
    expect((await stored(here.app, body.conversationId)).at(-1)?.content).toBe(`It was a dark\n\n${LENGTH}`);
    const { text } = await streamed(here.app, agentId, question);
    expect(text).toBe(`It was a dark\n\n${LENGTH}`);
  });

  test('is not empty when nothing of it came', async () => {
    here.server.script({ reply: '', finish: 'length' });
    const { body } = await send(here.app, await agent(), question).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: LENGTH }]);
  });
});

describe('a reply over the limit of the service', () => {
  test('is kept as far as it came and says why, blocking and streamed', async () => {
    const agentId = await agent(small);
    here.server.script({ reply: 'x'.repeat(50_000) }, { reply: ['x'.repeat(600), 'x'.repeat(600), 'x'.repeat(600)] });
    const { body } = await send(small, agentId, question).expect(200);
    expect(body.messages[0].content).toMatch(/^x{300,1000}\n\n\[/);
    expect(body.messages[0].content.endsWith(`\n\n${SIZE}`)).toBe(true);
    const { text } = await streamed(small, agentId, question);
    expect(text).toBe(`${'x'.repeat(1_000)}\n\n${SIZE}`);
  });

  test('counts the texts of all steps', async () => {
    const { publicId: id } = await postTool(small, here.tools, '/look');
    const agentId = await agent(small, [{ kind: 'http_tool', id }]);
    const toolCalls = [{ id: 'call_1', name: 'look', arguments: '{"city":"Oslo"}' }];
    for (let step = 0; step < 5; step += 1) here.server.script({ reply: ['y'.repeat(400)], toolCalls });
    const { text } = await streamed(small, agentId, question);
    expect(text.split('\n\n')).toEqual(['y'.repeat(400), 'y'.repeat(400), 'y'.repeat(400), SIZE]);
    expect(here.server.requests).toHaveLength(3);
  });
});

describe('a turn that ends at its limit of steps', () => {
  test.each([
    ['without a word', '', STEPS],
    ['with an answer', 'So far.', `So far.\n\n${STEPS}`],
  ])('says so (%s), blocking and streamed', async (_how, last, expected) => {
    const agentId = await agent(here.app, [{ kind: 'http_tool', id: look }]);
    const toolCalls = [{ id: 'call_1', name: 'look', arguments: '{"city":"Oslo"}' }];
    const script = () => {
      here.server.reset();
      for (let step = 1; step < 24; step += 1) here.server.script({ reply: '', toolCalls });
      // The last step may call nothing; this model does.
      here.server.script({ reply: last, toolCalls });
    };
    script();
    const { body } = await send(here.app, agentId, question).expect(200);
    expect(here.server.requests).toHaveLength(24);
    expect(body.messages).toEqual([{ role: 'assistant', content: expected }]);
    script();
    expect((await streamed(here.app, agentId, question)).text).toBe(expected);
  });
});

describe('a connection that breaks in the middle of the answer', () => {
  test.each([
    ['cut', /was cut in the middle of the answer/],
    ['eof', /ended its answer before it was complete/],
  ] as const)('is told as that (%s), and the pieces are not stored', async (ending, message) => {
    here.server.script({ reply: ['Half of '], ending });
    const url = `/agents/${await agent()}/messages/stream`;
    const { text } = await here.app.api('post', url).send(question).expect(200);
    expect(text).toContain('event: text-delta\ndata: {"text":"Half of "}');
    expect(text).toMatch(/event: error\ndata: \{"code":"MODEL_PROVIDER_ERROR"/);
    expect(text).toMatch(message);
    const [, conversationId = ''] = /"conversationId":"([^"]+)"/.exec(text) ?? [];
    expect((await stored(here.app, conversationId)).map(({ role }) => role)).toEqual(['user']);
  });
});
