import { callModel } from '../../../runtime/models/call.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { ask, rejection } from './support.ts';

const settings: ModelSettings = { retries: 0 };

const bytes = (text: string) => ({ type: 'data' as const, data: Buffer.from(text) });

describe('the built-in model', () => {
  const call = ask(BUILTIN_MODEL, {
    system: `You are Ada, the helper of ACME.\n${'Be kind. '.repeat(60)}`,
    messages: [
      { role: 'user', content: 'First question' },
      { role: 'assistant', content: 'First answer' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is on this picture?' },
          { type: 'file', data: bytes('GIF89a'), mediaType: 'image/gif', filename: 'cat.gif' },
          { type: 'file', data: bytes('%PDF-1.7'), mediaType: 'application/pdf' },
        ],
      },
    ],
  });

  test('says that it is no LLM, repeats the message and the beginning of the instructions, counts history and files', async () => {
    const { text } = await callModel(settings, call);
    expect(text).toContain('I am not an LLM');
    expect(text).toContain('You wrote: “What is on this picture?”');
    expect(text).toContain('My instructions begin: “You are Ada, the helper of ACME. Be kind.');
    expect(text.match(/Be kind\./g)?.length).toBeLessThan(25);
    expect(text).toContain('I see 2 earlier messages');
    expect(text).toContain('2 attachments (cat.gif, image/gif; application/pdf)');
  });

  test('answers the same every time, costs nothing, and streams the same text word by word', async () => {
    const pieces: string[] = [];
    const whole = await callModel(settings, call);
    const streamed = await callModel(settings, { ...call, onText: (delta) => void pieces.push(delta) });
    expect(streamed).toEqual(whole);
    expect(whole.costUsd).toBe(0);
    expect(pieces.join('')).toBe(whole.text);
    expect(pieces.every((piece) => /^\S+\s*$/.test(piece))).toBe(true);
    expect(pieces.length).toBeGreaterThan(50);
  });

  test('counts a token for every four characters begun', async () => {
    const { text, usage } = await callModel(
      settings,
      ask(BUILTIN_MODEL, { messages: [{ role: 'user', content: 'Hello' }] }),
    );
    expect(usage).toEqual({
      inputTokens: 2,
      outputTokens: Math.ceil(text.length / 4),
      totalTokens: 2 + Math.ceil(text.length / 4),
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
    });
  });

  test('copes with no instructions and no text', async () => {
    const file = { type: 'file' as const, data: bytes('x'), mediaType: 'image/png' };
    const { text } = await callModel(settings, ask(BUILTIN_MODEL, { messages: [{ role: 'user', content: [file] }] }));
    expect(text).toContain('Your message has no text.');
    expect(text).toContain('I have no instructions.');
    expect(text).toContain('This is the first message that I see');
  });

  test('an abort in the middle of the stream ends it with the reason given', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    let words = 0;
    const onText = () => {
      words += 1;
      if (words === 3) abort.abort(reason);
    };
    await expect(rejection(callModel(settings, { ...call, abortSignal: abort.signal, onText }))).resolves.toBe(reason);
    expect(words).toBeLessThan(6);
  });
});
