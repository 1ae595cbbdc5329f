import { textsOfBegun } from '../../../runtime/models/answerLimit.ts';
import { callModel } from '../../../runtime/models/call.ts';
import { modelSettingsFromEnv } from '../../../runtime/models/settings.ts';
import { ask, modelOf, useModelServer, WIRES } from './support.ts';

const here = useModelServer();
const LIMIT = 100_000;
const MB = 1024 * 1024;
const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }];

/** A text of 100 MB; it counts how much of it was asked for. */
function endlessText(): { pieces: AsyncIterable<string>; sent(): number } {
  let sent = 0;
  async function* pieces(): AsyncGenerator<string> {
    for (; sent < 100 * MB; sent += 10_000) {
      yield `${'é'.repeat(4_999)} .`;
      await new Promise(setImmediate);
    }
  }
  return { pieces: pieces(), sent: () => sent };
}

describe.each(WIRES)('an answer over the limit, over the wire format of %s', (provider, modelId) => {
  const settings = () => ({ ...here.settings, maxAnswerBytes: LIMIT });
  const call = (more: Parameters<typeof ask>[1] = {}) =>
    callModel(settings(), ask(modelOf(settings(), provider, modelId), more));

  test('is cut when it is streamed: what came is kept, and the connection is closed', async () => {
    const text = endlessText();
    here.server.script({ reply: text.pieces });
    let heard = '';
    const before = process.memoryUsage().rss;
    const answer = await call({
      onText: (delta) => {
        heard += delta;
      },
    });
    expect(answer).toMatchObject({ isOversized: true, finishReason: 'length', toolCalls: [] });
    expect(answer.text).toBe(heard);
    expect(Buffer.byteLength(heard)).toBeLessThanOrEqual(LIMIT);
    expect(Buffer.byteLength(heard)).toBeGreaterThan(LIMIT - 10);
    expect(heard).not.toContain('\uFFFD');
    expect(answer.usage.outputTokens).toBeGreaterThan(0);
    expect(await here.server.requests[0]?.closed).toBe(true);
    expect(text.sent()).toBeLessThan(50 * MB);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MB);
  });

  test('is cut when it comes whole: the text that came is kept, and the connection is closed', async () => {
    here.server.script({ reply: `Paris. "\\${'é'.repeat(2 * MB)}`, thinking: 'Where?' });
    const answer = await call();
    expect(answer).toMatchObject({ isOversized: true, finishReason: 'length' });
    expect(answer.text).toMatch(/^Paris\. "\\é+$/);
    expect(Buffer.byteLength(answer.text)).toBeGreaterThan(LIMIT / 2);
    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(LIMIT);
  });

  test.each([
    ['streamed', () => {}],
    ['whole', undefined],
  ])('counts the arguments of calls, which are not made (%s)', async (_how, onText) => {
    const args = JSON.stringify({ city: 'x'.repeat(4 * LIMIT) });
    here.server.script({ reply: 'I look.', toolCalls: [{ id: 'call_1', name: 'look', arguments: args }] });
    const answer = await call({ tools, onText });
    expect(answer).toMatchObject({ isOversized: true, toolCalls: [], text: 'I look.' });
  });

  test('counts thoughts', async () => {
    here.server.script({ reply: 'Paris.', thinking: 'x'.repeat(4 * LIMIT) });
    const answer = await call({ thinking: { enabled: true }, onText: () => {} });
    expect(answer).toMatchObject({ isOversized: true, text: '' });
  });

  test('that is sent as one event is not read to its end', async () => {
    here.server.script({ reply: ['x'.repeat(20 * MB)] });
    const answer = await call({ onText: () => {} });
    expect(answer.isOversized).toBe(true);
    expect(await here.server.requests[0]?.closed).toBe(true);
  });

  test('is none when it has just as many bytes', async () => {
    here.server.script({ reply: ['x'.repeat(LIMIT - 10), '0123456789'] });
    const answer = await call({ onText: () => {} });
    expect(answer).toMatchObject({ finishReason: 'stop' });
    expect(answer.isOversized).toBeUndefined();
    expect(answer.text).toHaveLength(LIMIT);
  });
});

test('an error with a body over the limit is told as the error', async () => {
  here.server.script({ status: 500, body: 'x'.repeat(2 * LIMIT) });
  const settings = { ...here.settings, maxAnswerBytes: LIMIT };
  const answer = callModel(settings, ask(modelOf(settings, 'openai', 'gpt-5.4')));
  await expect(answer).rejects.toMatchObject({ code: 'MODEL_PROVIDER_ERROR', message: expect.stringContaining('500') });
});

test('of JSON that ends anywhere the text that came is read', () => {
  const whole = JSON.stringify({
    id: 'a',
    choices: [{ index: 0, message: { role: 'assistant', content: 'A "b"\n\\ é' } }],
  });
  for (let end = 0; end <= whole.length; end += 1) {
    const [text = ''] = textsOfBegun(whole.slice(0, end));
    expect('A "b"\n\\ é'.startsWith(text)).toBe(true);
  }
  expect(textsOfBegun(whole)).toEqual(['A "b"\n\\ é']);
  expect(textsOfBegun('<html>')).toEqual([]);
});

test('the limit is a setting', () => {
  expect(modelSettingsFromEnv({ GUILDHALL_MAX_ANSWER_BYTES: '5000' }).maxAnswerBytes).toBe(5_000);
  expect(modelSettingsFromEnv({}).maxAnswerBytes).toBeUndefined();
  for (const wrong of ['4 MB', '-1', '10', '1e9'])
    expect(() => modelSettingsFromEnv({ GUILDHALL_MAX_ANSWER_BYTES: wrong })).toThrow('GUILDHALL_MAX_ANSWER_BYTES');
});
