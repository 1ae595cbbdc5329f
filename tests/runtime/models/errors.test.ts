import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { callModel, type ModelCall } from '../../../runtime/models/call.ts';
import { redact } from '../../../runtime/models/redact.ts';
import type { Step } from '../../support/servers/modelServer.ts';
import { ask, modelOf, rejection, useModelServer, WIRES } from './support.ts';

const here = useModelServer();

const html: Step = { status: 502, body: '<!doctype html><h1>Bad gateway</h1>' };
const html200: Step = { status: 200, body: '<html>Hello</html>', headers: { 'content-type': 'text/html' } };
const reply = ['Par', 'is'];

/** Failures that look the same whether the answer is streamed or not. */
const BEFORE: readonly (readonly [string, Step, RegExp])[] = [
  ['401', { status: 401, message: 'Wrong key' }, /refused the API key \(401\)\. Check [A-Z_]+_API_KEY\.$/],
  ['402', { status: 402, message: 'Pay first' }, /wants payment \(402\): Pay first\. Check the account's billing/],
  ['403', { status: 403, message: 'Not for you' }, /forbids this \(403\): Not for you\. Check what [A-Z_]+ may use/],
  ['404', { status: 404, message: 'No such model' }, /does not know the model .+ \(404\): No such model\./],
  ['400', { status: 400, message: 'Too many tokens' }, /rejected the request \(400\): Too many tokens\./],
  ['413', { status: 413 }, /finds the request too large \(413\)/],
  ['429', { status: 429, message: 'Slow down' }, /limits the rate of requests \(429\): Slow down\. Try again later/],
  ['429 for quota', { status: 429, message: 'You exceeded your current quota' }, /reports a used-up quota \(429\)/],
  ['500', { status: 500, message: 'Oops' }, /failed \(500\): Oops\. Try again later/],
  ['502 with a web page', html, /failed \(502\): it sent a web page instead of JSON\./],
  [
    'a redirect',
    { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
    /rejected the request \(302\)/,
  ],
  ['a closed connection', { hangUp: true }, /could not be reached: it closed the connection without an answer/],
];

/** Failures after the stream began. */
const DURING: readonly (readonly [string, Step, RegExp])[] = [
  ['a cut connection', { reply, ending: 'cut' }, /^The connection to .+ was cut in the middle of the answer/],
  ['an end without a finish', { reply, ending: 'eof' }, /ended its answer before it was complete/],
  [
    'an error event',
    { reply, ending: 'error-event' },
    /reported an error while it answered: The model is overloaded\./,
  ],
  ['a line that is no JSON', { reply, ending: 'garbage' }, /sent an answer that cannot be understood/],
];

describe.each(WIRES)('failures of %s', (provider, modelId) => {
  const failure = async (step: Step, more: Partial<ModelCall>, message: RegExp) => {
    here.server.script(step);
    const error = await rejection(callModel(here.settings, ask(modelOf(here.settings, provider, modelId), more)));
    expect(error).toMatchObject({ code: 'MODEL_PROVIDER_ERROR', status: 502 });
    expect(error.message).toMatch(message);
    const who = {
      openai: 'OpenAI',
      anthropic: 'Anthropic',
      google: 'Google',
      'openai-compatible': 'OpenAI-compatible server',
      builtin: '',
    };
    expect(error.message).toContain(who[provider]);
    expect(error.message).not.toContain('127.0.0.1');
    // The packages' errors carry the request with its prompt: nothing of them may hang on the fault.
    expect(error.cause).toBeUndefined();
    expect(here.server.requests).toHaveLength(1);
  };

  test.each(BEFORE)('%s, whole and streamed', async (_name, step, message) => {
    await failure(step, {}, message);
    here.server.reset();
    await failure(step, { onText: () => {} }, message);
  });

  test.each(DURING)('%s in the middle of a stream, after the deltas before it', async (_name, step, message) => {
    const heard: string[] = [];
    await failure(step, { onText: (delta) => void heard.push(delta) }, message);
    expect(heard).toEqual(reply);
  });

  test('an answer that is no JSON, and a web page with status 200', async () => {
    await failure({ reply, ending: 'garbage' }, {}, /sent an answer that cannot be understood/);
    here.server.reset();
    await failure(html200, {}, /sent an answer that cannot be understood/);
    here.server.reset();
    await failure(html200, { onText: () => {} }, /cannot be understood|ended its answer before it was complete/);
  });

  test('a refusal never repeats keys or the prompt', async () => {
    const keys = [
      here.settings.openai?.apiKey,
      here.settings.anthropic?.apiKey,
      here.settings.google?.apiKey,
      'compatible-secret-1',
    ];
    const message = `Bad ${keys.join(' ')} Bearer abcdef0123456789 in "the capital of France, please"`;
    here.server.script({ status: 400, message });
    const error = await rejection(callModel(here.settings, ask(modelOf(here.settings, provider, modelId))));
    for (const key of keys) expect(error.message).not.toContain(key);
    expect(error.message).not.toMatch(/abcdef0123|capital of France/);
  });
});

describe('unreachable providers', () => {
  const at = (baseUrl: string) => here.server.settings({ openai: { apiKey: 'k', baseUrl } });
  const message = async (baseUrl: string) =>
    (await rejection(callModel(at(baseUrl), ask(modelOf(here.settings, 'openai', 'gpt-5.4'))))).message;

  test('nothing listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    expect(await message(`http://127.0.0.1:${port}/v1`)).toBe(
      'OpenAI could not be reached: nothing listens at its address. Check the network and the base URL.',
    );
  });

  test('the name does not resolve', async () => {
    expect(await message('http://models.invalid/v1')).toBe(
      'OpenAI could not be reached: its host name cannot be resolved. Check the network and the base URL.',
    );
  });

  test('credentials in a base URL are not shown', async () => {
    const baseUrl = here.server.url.replace('//', '//admin:hunter2@');
    const compatible = here.server.settings({ openaiCompatible: { baseUrl, models: ['m'] } });
    here.server.script({ status: 500, message: `upstream ${baseUrl}/x failed` });
    const error = await rejection(callModel(compatible, ask(modelOf(compatible, 'openai-compatible', 'm'))));
    expect(error.message).toContain('failed (500)');
    expect(error.message).not.toMatch(/admin|hunter2/);
  });

  test("Google's 400 for a wrong key counts as a refused key", async () => {
    here.server.script({ status: 400, message: 'API key not valid. Please pass a valid API key.' });
    const error = await rejection(callModel(here.settings, ask(modelOf(here.settings, 'google', 'gemini-3.8-flash'))));
    expect(error.message).toBe('Google refused the API key (400). Check GOOGLE_GENERATIVE_AI_API_KEY.');
  });
});

describe('redact', () => {
  test.each([
    ['Incorrect API key provided: sk-proj-****abcd.', 'sk-proj', 'abcd'],
    ['Key sk-ant-api03-Zm9vYmFy is wrong', 'sk-ant', 'Zm9v'],
    ['key AIzaSyD4x0Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ failed', 'AIza', 'Zm9v'],
    ['Authorization: Bearer abc.def-ghi', 'abc.def', 'ghi'],
    ['x-api-key: topsecret1', 'topsecret', 'topsecret1'],
    ['GET https://h/x?key=abc123&y=1', 'abc123', 'key=abc'],
    ['https://user:pass@host/', 'user', 'pass'],
    ['ey1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'ey1a', 'aaaa'],
  ])('%s', (text, first, second) => {
    const shown = redact(text, [], []);
    expect(shown).not.toContain(first);
    expect(shown).not.toContain(second);
  });

  test('configured keys of any shape go', () => {
    expect(redact('bad letmein!', ['letmein!'], [])).toBe('bad [redacted]');
  });

  test('ordinary words stay', () => {
    const text = 'This model supports at most 128000 completion tokens, whereas you asked for 200000.';
    expect(redact(text, ['sk-x-unused'], ['Hello there, how are you today?'])).toBe(text);
  });

  test('quotations of the prompt go, short ones of common words stay', () => {
    const said = ['My account number is 12345 and my dog is called Rex.'];
    const shown = redact('Cannot parse: "number is 12345 and my dog is called" is invalid', [], said);
    expect(shown).toBe('Cannot parse: "[…]" is invalid');
  });

  test('the text is one line of at most 300 characters', () => {
    const shown = redact(`a\n\tb ${'word '.repeat(400)}`, [], []);
    expect(shown.startsWith('a b word')).toBe(true);
    expect(shown.length).toBeLessThanOrEqual(300);
    expect(shown.endsWith('…')).toBe(true);
  });
});
