import { APICallError } from '@ai-sdk/provider';
import { callModel } from '../../../runtime/models/call.ts';
import { requestedWaitMs } from '../../../runtime/models/retry.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { type ModelServer, type Step, startModelServer } from '../../support/servers/modelServer.ts';
import { ask, modelOf, rejection } from './support.ts';

let server: ModelServer;
let settings: ModelSettings;

beforeAll(async () => {
  server = await startModelServer();
  settings = server.settings({ retries: 2 });
});
beforeEach(() => server.reset());
afterAll(() => server.close());

const NOW_PLEASE = { 'retry-after-ms': '1' };
const busy: Step = { status: 429, headers: NOW_PLEASE };
const down: Step = { status: 503, headers: NOW_PLEASE };
const call = (more = {}) => callModel(settings, ask(modelOf(settings, 'openai', 'gpt-5.4'), more));

describe('retries', () => {
  test('a rate limit and a failing server are tried again, and the answer is as if nothing had been', async () => {
    server.script(busy, down, { reply: 'Paris.' });
    expect((await call()).text).toBe('Paris.');
    expect(server.requests).toHaveLength(3);
  });

  test('end after as many as the settings allow', async () => {
    server.script(busy, busy, busy, { reply: 'too late' });
    expect((await rejection(call())).message).toContain('(429)');
    expect(server.requests).toHaveLength(3);
  });

  test.each([401, 400, 404])('%i is not tried again', async (status) => {
    server.script({ status, headers: NOW_PLEASE }, { reply: 'never' });
    await rejection(call());
    expect(server.requests).toHaveLength(1);
  });

  test('a used-up quota is not tried again', async () => {
    server.script({ status: 429, message: 'You exceeded your current quota', headers: NOW_PLEASE }, { reply: 'never' });
    await rejection(call());
    expect(server.requests).toHaveLength(1);
  });

  test('a stream that broke after its first delta is not tried again', async () => {
    server.script({ reply: ['Par'], ending: 'cut' }, { reply: 'never' });
    const heard: string[] = [];
    await rejection(call({ onText: (delta: string) => void heard.push(delta) }));
    expect(heard).toEqual(['Par']);
    expect(server.requests).toHaveLength(1);
  });

  test('a provider that asks for a long pause is reported at once', async () => {
    server.script({ status: 429, headers: { 'retry-after': '3600' } }, { reply: 'never' });
    expect((await rejection(call())).message).toContain('(429)');
    expect(server.requests).toHaveLength(1);
  });

  test('an abort ends the wait before the next try', async () => {
    server.script({ status: 429, headers: { 'retry-after': '29' } }, { reply: 'never' });
    const abort = new AbortController();
    const reason = new Error('time is up');
    const failed = rejection(call({ abortSignal: abort.signal }));
    await server.received(1);
    await server.requests[0]?.closed;
    abort.abort(reason);
    expect(await failed).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

describe('askedWait', () => {
  const refusal = (responseHeaders: Record<string, string>) =>
    new APICallError({ message: 'x', url: 'http://x', requestBodyValues: {}, statusCode: 429, responseHeaders });
  const now = Date.parse('2026-11-21T12:00:00Z');

  test.each([
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:05 GMT' }, 5_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j means %s ms', (headers, expected) => {
    expect(requestedWaitMs(refusal(headers as Record<string, string>), now)).toBe(expected);
  });
});
