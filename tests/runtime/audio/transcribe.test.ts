import { ApiError } from '../../../core/errors.ts';
import { type TranscriptionContext, transcribe, transcribeAttachments } from '../../../runtime/audio/transcribe.ts';
import type { ResolvedAttachment } from '../../../runtime/files/attachments.ts';
import { resolveAttachments } from '../../../runtime/files/attachments.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { flac, mp3, mp4, ogg, wav, webm } from '../../support/files/audioSamples.ts';
import { type AudioServer, GOOGLE_KEY, OPENAI_KEY, startAudioServer } from '../../support/servers/audioServer.ts';
import { CONTEXT, inline, PNG } from '../files/attachmentSamples.ts';

let server: AudioServer;
beforeAll(async () => {
  server = await startAudioServer();
});
beforeEach(() => server.reset());
afterAll(() => server.close());

const OPENAI: TranscriptionContext = { model: { provider: 'openai' } };
const VOICE = { bytes: ogg(), mediaType: 'audio/ogg', filename: 'voice.ogg' };

function attachments(...contents: Buffer[]): Promise<ResolvedAttachment[]> {
  return resolveAttachments(
    contents.map((bytes) => inline(bytes)),
    { ...CONTEXT, listens: true },
  );
}

async function faultOf(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error('expected a fault', { cause: error });
}

describe('over the wire of OpenAI', () => {
  test.each<[string, Buffer]>([
    ['mp3', mp3()],
    ['wav', wav()],
    ['ogg', ogg()],
    ['webm', webm([2])],
    ['m4a', mp4(['soun'])],
    ['flac', flac()],
  ])(
    '%s is sent unchanged, with the extension by which the provider recognises the format',
    async (extension, bytes) => {
      server.script({ text: ' Where is my order?\n' });
      const [recording] = await attachments(bytes);
      if (!recording) throw new Error('one was sent');
      expect(await transcribe(server.settings(), recording, OPENAI)).toBe('Where is my order?');
      const [request] = server.requests;
      expect(request).toMatchObject({ path: '/v1/audio/transcriptions', model: 'gpt-4o-mini-transcribe' });
      expect(request?.headers.authorization).toBe(`Bearer ${OPENAI_KEY}`);
      expect(request?.file).toMatchObject({ name: `audio.${extension}`, type: recording.mediaType });
      expect(request?.file?.bytes.equals(bytes)).toBe(true);
    },
  );

  test('characters that PostgreSQL cannot store are left out, and a transcript has at most the length of a message', async () => {
    server.script({ text: 'a\u0000b\ud800' }, { text: 'x'.repeat(40_000) });
    expect(await transcribe(server.settings(), VOICE, OPENAI)).toBe('ab\ufffd');
    expect(await transcribe(server.settings(), VOICE, OPENAI)).toBe(`${'x'.repeat(32_000)} [cut off]`);
  });

  test('a temporary failure is retried as often as the settings say', async () => {
    server.script({ status: 500 }, { text: 'Hi' });
    expect(await transcribe(server.settings({ retries: 1 }), VOICE, OPENAI)).toBe('Hi');
    expect(server.requests).toHaveLength(2);
  });
});

test('over the wire of Google', async () => {
  server.script({ text: 'Grüße' });
  expect(await transcribe(server.settings(), VOICE, { model: { provider: 'google' } })).toBe('Grüße');
  const [request] = server.requests;
  expect(request).toMatchObject({ path: '/v1beta/interactions', model: 'gemini-3.5-transcribe' });
  expect(request?.file).toMatchObject({ type: 'audio/ogg', bytes: VOICE.bytes });
});

describe('the choice of the model', () => {
  const asked = async (
    settings: ModelSettings,
    provider: NonNullable<TranscriptionContext['model']>['provider'] | null,
  ) => {
    await transcribe(settings, VOICE, { model: provider === null ? undefined : { provider } });
    const request = server.requests.at(-1);
    return `${request?.path} ${request?.model}`;
  };
  const OF_OPENAI = '/v1/audio/transcriptions gpt-4o-mini-transcribe';
  const OF_GOOGLE = '/v1beta/interactions gemini-3.5-transcribe';

  test("is of the provider of the agent's own model, or else of another that can transcribe", async () => {
    const { google, ...withoutGoogle } = server.settings();
    const { openai, ...withoutOpenai } = server.settings();
    expect(await asked(server.settings(), 'openai')).toBe(OF_OPENAI);
    expect(await asked(server.settings(), 'google')).toBe(OF_GOOGLE);
    expect(await asked(withoutGoogle, 'google')).toBe(OF_OPENAI);
    expect(await asked(withoutOpenai, 'openai')).toBe(OF_GOOGLE);
    for (const other of ['anthropic', 'builtin', 'openai-compatible', null] as const) {
      expect(await asked(server.settings(), other)).toBe(OF_OPENAI);
    }
  });

  test('prefers the model of the settings; a compatible server never gets the key of another provider', async () => {
    const named = server.settings({ transcription: { provider: 'openai-compatible', modelId: 'my-whisper' } });
    process.env.OPENAI_API_KEY = OPENAI_KEY;
    try {
      expect(await asked(named, 'google')).toBe('/v1/audio/transcriptions my-whisper');
    } finally {
      delete process.env.OPENAI_API_KEY;
    }
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain(OPENAI_KEY);
    const keyed = { ...named, openaiCompatible: { baseUrl: `${server.url}/v1`, models: [], apiKey: 'local-key' } };
    await asked(keyed, null);
    expect(server.requests[1]?.headers.authorization).toBe('Bearer local-key');
  });

  test('without any such model: UNSUPPORTED_ATTACHMENT', async () => {
    const settings: ModelSettings = { anthropic: { apiKey: 'k' }, retries: 0 };
    const error = await faultOf(transcribe(settings, VOICE, { model: { provider: 'anthropic' } }));
    expect([error.code, error.message]).toEqual([
      'UNSUPPORTED_ATTACHMENT',
      'voice.ogg is audio, and no model provider that is configured here can transcribe it. Send the message as text.',
    ]);
  });
});

describe('failures', () => {
  test.each<[string, Parameters<AudioServer['script']>[0], RegExp]>([
    [
      'a wrong key',
      { status: 401, message: `Incorrect API key provided: ${OPENAI_KEY}` },
      /^OpenAI refused the API key \(401\)/,
    ],
    [
      'a rate limit',
      { status: 429, message: 'Slow down.' },
      /^OpenAI limits the rate of requests \(429\): Slow down\./,
    ],
    ['a failure', { status: 503, message: `key=${OPENAI_KEY}` }, /^OpenAI failed \(503\)/],
    ['a hang-up', 'hang-up', /^OpenAI could not be reached/],
    ['an answer that is none', 'no-json', /^OpenAI sent an answer that cannot be understood/],
  ])('of the provider are MODEL_PROVIDER_ERROR without secrets: %s', async (_title, step, message) => {
    server.script(step);
    const error = await faultOf(transcribe(server.settings(), VOICE, OPENAI));
    expect([error.status, error.code, error.message]).toEqual([
      502,
      'MODEL_PROVIDER_ERROR',
      expect.stringMatching(message),
    ]);
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toMatch(
      new RegExp(`${OPENAI_KEY}|${GOOGLE_KEY}`),
    );
  });

  test('that the file causes are UNSUPPORTED_ATTACHMENT', async () => {
    server.script({ status: 400, message: 'Audio file might be corrupted or unsupported' });
    const error = await faultOf(transcribe(server.settings(), VOICE, OPENAI));
    expect([error.status, error.code, error.message]).toEqual([
      422,
      'UNSUPPORTED_ATTACHMENT',
      'voice.ogg cannot be transcribed. OpenAI rejected the request (400): Audio file might be corrupted or unsupported.',
    ]);
  });

  test('an abort ends the call with its own reason', async () => {
    server.script('silence');
    const leaving = new AbortController();
    const heard = transcribe(server.settings(), VOICE, { ...OPENAI, signal: leaving.signal });
    await server.received(1);
    const reason = new Error('enough');
    leaving.abort(reason);
    await expect(heard).rejects.toBe(reason);
    expect(await server.requests[0]?.closed).toBe(true);
    await expect(transcribe(server.settings(), VOICE, { ...OPENAI, signal: leaving.signal })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

describe('the attachments of a message', () => {
  test('recordings become text in their order and are stored with it; other attachments stay', async () => {
    server.script({ text: 'Look at this.' });
    const [image, ...more] = await attachments(PNG, ogg());
    const heard = await transcribeAttachments(server.settings(), [image, ...more] as ResolvedAttachment[], OPENAI);
    expect(heard.attachments).toEqual([image]);
    expect(heard.text).toBe('[Voice message] Look at this.');
    expect(heard.stored).toEqual([
      { mediaType: 'image/png', filename: 'attachment-0.png', sizeBytes: PNG.length, sha256: expect.any(String) },
      expect.objectContaining({ mediaType: 'audio/ogg', transcript: 'Look at this.' }),
    ]);
    expect(heard.stored[0]).not.toHaveProperty('transcript');
  });

  test('several are transcribed concurrently', async () => {
    server.script('silence', 'silence', 'silence');
    const leaving = new AbortController();
    const context = { ...OPENAI, signal: leaving.signal };
    const heard = transcribeAttachments(server.settings(), await attachments(ogg(), mp3(), wav()), context);
    await server.received(3);
    leaving.abort(new Error('enough'));
    await expect(heard).rejects.toThrow('enough');
  });

  test('a recording without speech is marked as such', async () => {
    server.script({ text: ' ' }, { text: '' });
    const heard = await transcribeAttachments(server.settings(), await attachments(ogg(), mp3()), OPENAI);
    const nothing = '[Voice message] (nothing that can be understood)';
    expect(heard.text).toBe(`${nothing}\n\n${nothing}`);
    expect(heard.stored.map(({ transcript }) => transcript)).toEqual(['', '']);
  });

  test('without recordings no request is sent', async () => {
    const heard = await transcribeAttachments({ retries: 0 }, await attachments(PNG), OPENAI);
    expect([heard.text, heard.attachments.length, heard.stored.length]).toEqual([null, 1, 1]);
  });

  test('one failure cancels the other requests', async () => {
    server.script('silence', { status: 500, message: 'Broken.' });
    const error = await faultOf(transcribeAttachments(server.settings(), await attachments(ogg(), mp3()), OPENAI));
    expect(error.code).toBe('MODEL_PROVIDER_ERROR');
    expect(await Promise.all(server.requests.map(({ closed }) => closed))).toContain(true);
  });
});
