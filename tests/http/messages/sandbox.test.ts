import { stepsOf } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { lastResult, resultsOf, systemOf, toolCall, toolNames, WIRES } from '../../support/turns/exchanges.ts';
import { GPT, publishedAgent, send } from './turns.ts';

const here = useModelApp();

const coder = (aiModelPublicId = GPT, sandboxEnabled = true) =>
  publishedAgent(here.app, { aiModelPublicId, sandboxEnabled, systemPrompt: 'You help.' });
const run = (code: string, id?: string) => toolCall('run_javascript', { code }, id);

describe.each(WIRES)('%s', (_wire, model) => {
  test('code that the model writes is run, and the model gets the result', async () => {
    const agentId = await coder(model);
    here.server.script(
      { reply: '', toolCalls: [run('console.log("adding"); [1, 2, 3].reduce((a, b) => a + b)')] },
      { reply: 'Six.' },
    );
    const { body } = await send(here.app, agentId, { content: 'Add 1, 2 and 3.' }).expect(200);
    expect(systemOf(here.server.requests[0])).toMatch(/^You help\.\n\n# Sandbox\n\n/);
    expect(toolNames(here.server.requests[0])).toEqual(['run_javascript']);
    expect(lastResult(here.server.requests[1])).toEqual({ text: 'Logged:\nadding\n\nResult: 6', isError: false });
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Six.' }]);
    expect((await stepsOf(here.app, body.conversationId)).map(({ name, status }) => [name, status])[1]).toEqual([
      'run_javascript',
      'done',
    ]);
  });
});

test('the model gets the errors, and no state is kept between calls', async () => {
  const agentId = await coder();
  here.server.script(
    { reply: '', toolCalls: [run('globalThis.kept = 1; oops()', 'c1')] },
    { reply: '', toolCalls: [run('typeof kept', 'c2')] },
  );
  await send(here.app, agentId, { content: 'Go.' }).expect(200);
  const [failed, after] = resultsOf(here.server.requests[2]);
  expect(failed).toMatchObject({ text: expect.stringContaining('ReferenceError'), isError: true });
  expect(after).toMatchObject({ text: expect.stringContaining('undefined'), isError: false });
});

test('code reaches neither the network, nor files, nor the process', async () => {
  const agentId = await coder();
  here.server.script({
    reply: '',
    toolCalls: [run('[typeof fetch, typeof require, typeof process, typeof XMLHttpRequest, typeof Deno].join()')],
  });
  await send(here.app, agentId, { content: 'Go.' }).expect(200);
  expect(lastResult(here.server.requests[1]).text).toContain('undefined,undefined,undefined,undefined,undefined');
});

test('code that never ends is stopped, and other turns run meanwhile', async () => {
  const agentId = await coder();
  here.server.script({ reply: '', toolCalls: [run('for (;;);')] });
  const endless = send(here.app, agentId, { content: 'Loop.' }).then((each) => each);
  await here.server.received(1);
  const quick = await publishedAgent(here.app);
  await send(here.app, quick, { content: 'Hi.' }).expect(200);
  expect((await endless).status).toBe(200);
  const stopped = here.server.requests.find(
    (request) => request.wire === 'openai-responses' && resultsOf(request).length > 0,
  );
  expect(lastResult(stopped)).toMatchObject({ text: expect.stringMatching(/longer than \d+ s/), isError: true });
});

test('with the feature off there is neither a section in the prompt nor a tool', async () => {
  await send(here.app, await coder(GPT, false), { content: 'Go.' }).expect(200);
  expect(systemOf(here.server.requests[0])).toBe('You help.');
  expect(toolNames(here.server.requests[0])).toEqual([]);
});
