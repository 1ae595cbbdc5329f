import { callModel } from '../../../runtime/models/call.ts';
import { gatedReply } from '../../support/servers/modelServer.ts';
import { ask, modelOf, rejection, useModelServer, WIRES } from './support.ts';

const here = useModelServer();

describe.each(WIRES)('callModel over the wire format of %s', (provider, modelId) => {
  const model = () => modelOf(here.settings, provider, modelId);
  const usage = { input: 1_000, output: 500, cached: 400, reasoning: 100 };

  test('whole and streamed answers have the same text, usage and cost', async () => {
    const price = model();
    const cached = price.priceDetails?.cachedInput ?? 0;
    const costUsd = (600 * price.inputCostPer1MTokens + 400 * cached + 500 * price.outputCostPer1MTokens) / 1e6;
    const expected = {
      text: 'Paris, of course. ✓',
      content: expect.arrayContaining([expect.objectContaining({ type: 'text', text: 'Paris, of course. ✓' })]),
      toolCalls: [],
      usage: { inputTokens: 1_000, outputTokens: 500, totalTokens: 1_500, cachedInputTokens: 400, cacheWriteTokens: 0 },
      costUsd: expect.closeTo(costUsd, 9),
      finishReason: 'stop',
    };
    const step = { reply: ['Par', 'is, of ', 'course. ✓'], usage, thinking: 'Where was it?' };
    here.server.script(step, step);
    expect(await callModel(here.settings, ask(model()))).toEqual(expected);
    const deltas: string[] = [];
    expect(await callModel(here.settings, ask(model(), { onText: (delta) => void deltas.push(delta) }))).toEqual(
      expected,
    );
    expect(deltas).toEqual(step.reply);
    const streams = here.server.requests.map(({ body, path }) => body.stream === true || path.includes('alt=sse'));
    expect(streams).toEqual([false, true]);
  });

  test('an answer cut at the length limit says so', async () => {
    here.server.script({ reply: 'Par', finish: 'length' }, { reply: 'Par', finish: 'length' });
    expect((await callModel(here.settings, ask(model()))).finishReason).toBe('length');
    expect((await callModel(here.settings, ask(model(), { onText: () => {} }))).finishReason).toBe('length');
  });

  test('each delta is handed over before the next one exists', async () => {
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    const heard: string[] = [];
    let next: (() => void) | undefined;
    const onText = (delta: string) => {
      heard.push(delta);
      next?.();
    };
    const until = () =>
      new Promise<void>((resolve) => {
        next = resolve;
      });
    const answer = callModel(here.settings, ask(model(), { onText }));
    let first = until();
    gate.push('one');
    await first;
    expect(heard).toEqual(['one']);
    first = until();
    gate.push('two');
    await first;
    expect(heard).toEqual(['one', 'two']);
    gate.end();
    expect((await answer).text).toBe('onetwo');
  });

  test('instructions, history, pictures and PDF reach the provider', async () => {
    const able = { ...model(), supportsImage: true, supportsDocument: true };
    await callModel(
      here.settings,
      ask(able, {
        system: 'Speak like a pirate.',
        messages: [
          { role: 'user', content: 'Ahoy?' },
          { role: 'assistant', content: 'Ahoy!' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look here.' },
              { type: 'file', data: { type: 'data', data: new Uint8Array([137, 80, 78, 71]) }, mediaType: 'image/png' },
              {
                type: 'file',
                data: { type: 'data', data: 'JVBERi0xLjcK' },
                mediaType: 'application/pdf',
                filename: 'a.pdf',
              },
            ],
          },
        ],
      }),
    );
    const sent = JSON.stringify(here.server.requests[0]?.body);
    const order = ['Speak like a pirate.', 'Ahoy?', 'Ahoy!', 'Look here.', 'iVBORw==', 'JVBERi0xLjcK'];
    const places = order.map((text) => sent.indexOf(text));
    expect(places.every((place) => place >= 0)).toBe(true);
    // Google carries the instructions in a field of their own, after the conversation.
    const talk = provider === 'google' ? places.slice(1) : places;
    expect(talk).toEqual([...talk].sort((a, b) => a - b));
  });

  test('an abort while the provider is silent ends the call with the reason given, and the connection', async () => {
    for (const onText of [undefined, () => {}]) {
      here.server.reset();
      here.server.script({ silence: true });
      const abort = new AbortController();
      const answer = rejection(callModel(here.settings, ask(model(), { abortSignal: abort.signal, onText })));
      await here.server.received(1);
      const reason = new Error('time is up');
      abort.abort(reason);
      expect(await answer).toBe(reason);
      expect(await here.server.requests[0]?.closed).toBe(true);
    }
  });

  test('an abort in the middle of a stream ends the call with the reason given, and the connection', async () => {
    here.server.script({ reply: ['half'], ending: 'silence' });
    const abort = new AbortController();
    const reason = new Error('time is up');
    const onText = () => abort.abort(reason);
    expect(await rejection(callModel(here.settings, ask(model(), { abortSignal: abort.signal, onText })))).toBe(reason);
    expect(await here.server.requests[0]?.closed).toBe(true);
  });

  test('an error of the listener passes through and ends the connection', async () => {
    here.server.script({ reply: ['half'], ending: 'silence' }, { reply: ['half'], ending: 'silence' });
    const broken = new Error('client gone');
    const throwing = () => {
      throw broken;
    };
    expect(await rejection(callModel(here.settings, ask(model(), { onText: throwing })))).toBe(broken);
    expect(await here.server.requests[0]?.closed).toBe(true);
    expect(await rejection(callModel(here.settings, ask(model(), { onText: () => Promise.reject(broken) })))).toBe(
      broken,
    );
  });
});

describe('callModel', () => {
  test('an abort before the call sends nothing', async () => {
    const reason = new Error('too late');
    const call = ask(modelOf(here.settings, 'openai', 'gpt-5.4'), { abortSignal: AbortSignal.abort(reason) });
    expect(await rejection(callModel(here.settings, call))).toBe(reason);
    expect(here.server.requests).toEqual([]);
  });

  test('a server that reports no usage gets an estimate of a token per four characters', async () => {
    const body = JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: '12345678' }, finish_reason: 'stop' }],
    });
    here.server.script({ status: 200, body, headers: { 'content-type': 'application/json' } });
    const model = modelOf(here.settings, 'openai-compatible', 'local-model');
    const { usage } = await callModel(here.settings, ask(model, { messages: [{ role: 'user', content: '12345' }] }));
    expect(usage).toEqual({
      inputTokens: 2,
      outputTokens: 2,
      totalTokens: 4,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
    });
  });

  test('invalid token counts are rounded, and cost at least zero', async () => {
    const body = JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3.6, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 900 } },
    });
    here.server.script({ status: 200, body, headers: { 'content-type': 'application/json' } });
    const model = { ...modelOf(here.settings, 'openai-compatible', 'local-model'), inputCostPer1MTokens: 1 };
    const { usage, costUsd } = await callModel(here.settings, ask({ ...model, priceDetails: { cachedInput: 0.1 } }));
    expect(usage).toEqual({
      inputTokens: 4,
      outputTokens: 1,
      totalTokens: 5,
      cachedInputTokens: 4,
      cacheWriteTokens: 0,
    });
    expect(costUsd).toBeGreaterThan(0);
  });

  test.each([1e300, 2 ** 31, 10_000_001])('a count that cannot be true is not charged: %d', async (count) => {
    const body = JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: '12345678' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: count, completion_tokens: count, prompt_tokens_details: { cached_tokens: count } },
    });
    here.server.script({ status: 200, body, headers: { 'content-type': 'application/json' } });
    const model = modelOf(here.settings, 'openai-compatible', 'local-model');
    const { usage } = await callModel(here.settings, ask(model, { messages: [{ role: 'user', content: '12345' }] }));
    expect(usage).toMatchObject({ inputTokens: 2, outputTokens: 2, totalTokens: 4, cachedInputTokens: 0 });
  });

  test.each([
    ['model_length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['sensitive', 'content-filter'],
    ['eos_token', 'stop'],
    ['insufficient_system_resource', null],
    ['error', null],
    ['abort', null],
    ['a new word', 'other'],
  ])('a compatible server that says “%s” is understood, whole and streamed', async (finish_reason, expected) => {
    const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, delta: { content: 'Hi' }, finish_reason };
    const text = JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [choice] });
    const model = modelOf(here.settings, 'openai-compatible', 'local-model');
    for (const onText of [undefined, () => {}]) {
      const type = onText ? 'text/event-stream' : 'application/json';
      const body = onText ? `data: ${text}\n\ndata: [DONE]\n\n` : text;
      here.server.script({ status: 200, body, headers: { 'content-type': type } });
      const call = callModel(here.settings, ask(model, { onText }));
      // Such an answer was cut by a failure of the server: it is no answer.
      if (expected === null) expect((await rejection(call)).message).toContain('before it was complete');
      else expect(await call).toMatchObject({ text: 'Hi', finishReason: expected });
    }
  });

  test.each([
    { prompt_cache_hit_tokens: 640, prompt_cache_miss_tokens: 360 },
    { cached_tokens: 640 },
    { cached_tokens: 1, prompt_tokens_details: { cached_tokens: 640 } },
  ])('cached tokens are counted as the server names them, whole and streamed: %j', async (named) => {
    const choice = {
      index: 0,
      message: { role: 'assistant', content: 'Hi' },
      delta: { content: 'Hi' },
      finish_reason: 'stop',
    };
    const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010, ...named };
    const text = JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [choice],
      usage,
    });
    const model = modelOf(here.settings, 'openai-compatible', 'local-model');
    for (const onText of [undefined, () => {}]) {
      const type = onText ? 'text/event-stream' : 'application/json';
      const body = onText ? `data: ${text}\n\ndata: [DONE]\n\n` : text;
      here.server.script({ status: 200, body, headers: { 'content-type': type } });
      const answer = await callModel(here.settings, ask(model, { onText }));
      expect(answer.usage).toMatchObject({ inputTokens: 1_000, cachedInputTokens: 640 });
    }
  });

  test('OpenAI keeps nothing of a call, and each provider gets its own key', async () => {
    for (const [provider, modelId] of WIRES)
      await callModel(here.settings, ask(modelOf(here.settings, provider, modelId)));
    const [openai, compatible, anthropic, google] = here.server.requests;
    expect(openai).toMatchObject({ wire: 'openai-responses', body: { store: false } });
    expect(openai?.headers.authorization).toBe(`Bearer ${here.settings.openai?.apiKey}`);
    expect(compatible?.headers.authorization).toBe(`Bearer ${here.settings.openaiCompatible?.apiKey}`);
    expect(anthropic?.headers['x-api-key']).toBe(here.settings.anthropic?.apiKey);
    expect(google?.headers['x-goog-api-key']).toBe(here.settings.google?.apiKey);
  });

  test('connections are kept and used again', async () => {
    for (let i = 0; i < 6; i += 1) await callModel(here.settings, ask(modelOf(here.settings, 'openai', 'gpt-5.4')));
    // Two at most: a call may begin before the pool has taken the connection of the last one back.
    expect(new Set(here.server.requests.map(({ port }) => port)).size).toBeLessThanOrEqual(2);
  });

  test('a provider without settings is named with the variable to set', async () => {
    const model = modelOf(here.settings, 'anthropic', 'claude-opus-4-6');
    const error = await rejection(callModel({ retries: 0 }, ask(model)));
    expect(error).toMatchObject({ code: 'MODEL_PROVIDER_ERROR', status: 502 });
    expect(error.message).toContain('ANTHROPIC_API_KEY');
  });
});
