import { agentWith, stepsOf } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import type { Step } from '../../support/servers/modelServer.ts';
import { streamed, toolCall } from '../../support/turns/exchanges.ts';
import { HAIKU, LOCAL, publishedAgent, said, send } from './turns.ts';

const here = useModelApp();
const question = { content: 'Tell me.' };
const agent = () => publishedAgent(here.app);

const NO_ANSWER = '[The model gave no answer, also when it was asked again. Send the message again.]';
const ONLY_THOUGHTS =
  '[The model used all of its tokens for thinking, and none were left for an answer. Ask for less at once, or lower its thinking.]';

/** A whole answer of chat completions. */
const whole = (content: string, finishReason: string): Step => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: 'c1',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  }),
});

describe('an answer with neither text nor calls', () => {
  test('is asked for once more', async () => {
    const agentId = await agent();
    here.server.script({ reply: '' }, { reply: 'Here.' });
    const { body } = await send(here.app, agentId, question).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Here.' }]);
    expect(said(here.server.requests[1])).toEqual(said(here.server.requests[0]));
    const steps = await stepsOf(here.app, body.conversationId);
    expect(steps.map((step) => step.finish_reason)).toEqual(['empty', 'stop']);
    here.server.script({ reply: '  \n' }, { reply: 'Here.' });
    expect((await streamed(here.app, agentId, question)).text.trim()).toBe('Here.');
  });

  test('again is told as that, blocking and streamed', async () => {
    const agentId = await agent();
    here.server.fallback = { reply: '' };
    const { body } = await send(here.app, agentId, question).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: NO_ANSWER }]);
    expect(here.server.requests).toHaveLength(2);
    const { text, debug } = await streamed(here.app, agentId, question);
    expect(text).toBe(NO_ANSWER);
    expect(debug.finishReason).toBe('empty');
  });

  test('is enough when components are shown', async () => {
    const agentId = await agentWith(here.app, [], { aiModelPublicId: LOCAL });
    await here.app.api('patch', `/agents/${agentId}`).send({ genuiEnabled: true }).expect(200);
    await here.app
      .api('post', `/agents/${agentId}/publish`)
      .send({})
      .expect((response) => {
        expect(response.status).toBeLessThan(300);
      });
    const ui = { type: 'text', text: 'Shown.' };
    here.server.script({ reply: '', toolCalls: [toolCall('show_ui', { ui })] }, { reply: '' });
    const { body } = await send(here.app, agentId, question).expect(200);
    expect(body.messages).toEqual([expect.objectContaining({ content: '' })]);
    expect(here.server.requests).toHaveLength(2);
  });
});

describe('an answer that is not whole', () => {
  test.each([
    ['thoughts alone', { reply: '<think>Hm. Let me', finish: 'length' } as Step, ONLY_THOUGHTS, 'length'],
    ['thoughts apart', { reply: '', thinking: 'Hm.', finish: 'length' } as Step, ONLY_THOUGHTS, 'length'],
    ['withheld', whole('', 'content_filter'), '[The provider of the model withheld the answer.]', 'content-filter'],
    [
      'withheld in the middle',
      whole('It was', 'content_filter'),
      'It was\n\n[The answer ends here: the provider of the model withheld the rest.]',
      'content-filter',
    ],
  ])('says why: %s', async (_what, step, expected, reason) => {
    here.server.script(step);
    const { body } = await send(here.app, await agent(), question).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: expected }]);
    const [stored] = await stepsOf(here.app, body.conversationId);
    expect(stored?.finish_reason).toBe(reason);
    expect(here.server.requests).toHaveLength(1);
  });

  test('says that the model refused', async () => {
    const agentId = await publishedAgent(here.app, { aiModelPublicId: HAIKU });
    const body = { id: 'm', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
    here.server.script({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...body,
        content: [],
        stop_reason: 'refusal',
        usage: { input_tokens: 1, output_tokens: 0 },
      }),
    });
    const reply = await send(here.app, agentId, question).expect(200);
    expect(reply.body.messages).toEqual([{ role: 'assistant', content: '[The model refused to answer.]' }]);
    const [stored] = await stepsOf(here.app, reply.body.conversationId);
    expect(stored?.finish_reason).toBe('refusal');
  });

  test('thoughts of an earlier message are not in the history', async () => {
    const agentId = await agent();
    here.server.script({ reply: '<think>A secret.</think>\n\nHello.' });
    const { body } = await send(here.app, agentId, question).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Hello.' }]);
    await send(here.app, agentId, { ...question, conversationId: body.conversationId }).expect(200);
    expect(JSON.stringify(here.server.requests[1]?.body)).not.toContain('secret');
  });
});
