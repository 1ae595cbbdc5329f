import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderStore } from '../../../integrations/storage/folder.ts';
import { type FileStore, StorageError } from '../../../integrations/storage/storage.ts';
import { type SpeechParts, speak, type Utterance } from '../../../runtime/audio/speak.ts';
import { publicFile } from '../../../runtime/files/publicFiles.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { mp3, ogg, wav } from '../../support/files/audioSamples.ts';
import { type AudioServer, OPENAI_KEY, startAudioServer } from '../../support/servers/audioServer.ts';

let server: AudioServer;
let folder: string;
let files: FileStore;
let warnings: [object, string][];

beforeAll(async () => {
  server = await startAudioServer();
});
beforeEach(async () => {
  server.reset();
  warnings = [];
  folder = await mkdtemp(join(tmpdir(), 'guildhall-speech-'));
  files = folderStore(folder);
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(() => server.close());

const workspaceId = randomUUID();

function spoken(more: Partial<Utterance> = {}, parts: Partial<SpeechParts> = {}) {
  const logger = { warn: (fields: object, message: string) => void warnings.push([fields, message]) };
  const utterance: Utterance = {
    workspaceId,
    text: 'It is **three** o’clock.',
    voice: 'nova',
    model: { provider: 'openai' },
    signal: new AbortController().signal,
    ...more,
  };
  return speak({ models: server.settings(), files, logger: logger as SpeechParts['logger'], ...parts }, utterance);
}

const kept = async (key: string) => readFile(join(folder, key));

describe('a spoken reply', () => {
  test('is an MP3 under an unguessable key of its workspace, and publicly readable', async () => {
    const [first, second] = [await spoken(), await spoken()];
    expect(first?.key).toMatch(new RegExp(`^${workspaceId}/speech/[A-Za-z0-9_-]{32}\\.mp3$`));
    expect(second?.key).not.toBe(first?.key);
    expect((await kept(first?.key ?? '')).equals(mp3())).toBe(true);
    expect(publicFile(first?.key ?? '')).toEqual({
      mediaType: 'audio/mpeg',
      filename: 'speech.mp3',
      disposition: 'inline',
      cache: 'private',
    });
    expect(server.requests[0]).toMatchObject({
      path: '/v1/audio/speech',
      model: 'gpt-4o-mini-tts',
      input: 'It is three o’clock.',
      voice: 'nova',
    });
    expect(warnings).toEqual([]);
  });

  test('has at most the length that the provider accepts', async () => {
    await spoken({ text: 'word '.repeat(5_000) });
    expect(server.requests[0]?.input?.length).toBeLessThanOrEqual(4_096);
  });

  test('gets the extension of its real format, not of the requested one', async () => {
    server.script({ sound: ogg(), type: 'audio/mpeg' });
    expect((await spoken())?.key).toMatch(/\.ogg$/);
  });

  test('comes as WAV from Google', async () => {
    const reply = await spoken({ model: { provider: 'google' }, voice: 'puck' });
    expect(reply?.key).toMatch(/\.wav$/);
    expect((await kept(reply?.key ?? '')).equals(wav())).toBe(true);
    expect(server.requests[0]).toMatchObject({
      path: '/v1beta/models/gemini-3.8-flash-tts:generateContent',
      input: 'It is three o’clock.',
      voice: 'Puck',
    });
  });
});

test.each<[string, Utterance['model']['provider'], string | null, string]>([
  ['its own', 'openai', 'Shimmer', 'shimmer'],
  ['one that may be new', 'openai', 'brandnew', 'brandnew'],
  ['none', 'openai', null, 'alloy'],
  ["another provider's", 'openai', 'Kore', 'alloy'],
  ["another provider's", 'google', 'nova', 'Kore'],
  ['blank', 'google', '  ', 'Kore'],
])('a voice that is %s, at %s: %s is asked for as %s', async (_title, provider, voice, asked) => {
  await spoken({ model: { provider }, voice });
  expect(server.requests[0]?.voice).toBe(asked);
});

test('the model of the settings is used, with any voice', async () => {
  const models = server.settings({ speech: { provider: 'openai-compatible', modelId: 'kokoro' } });
  await spoken({ voice: 'af_sky' }, { models });
  expect(server.requests[0]).toMatchObject({ path: '/v1/audio/speech', model: 'kokoro', voice: 'af_sky' });
  expect(JSON.stringify(server.requests[0]?.headers)).not.toContain(OPENAI_KEY);
});

describe('no recording and no error', () => {
  const nothingKept = async () => expect(await readdir(folder)).toEqual([]);

  test('when no configured provider speaks: logged', async () => {
    const models: ModelSettings = { anthropic: { apiKey: 'k' }, retries: 0 };
    expect(await spoken({}, { models })).toBeNull();
    expect(warnings).toEqual([
      [{ workspaceId }, expect.stringContaining('no model provider that is configured can speak')],
    ]);
  });

  test.each<[string, Parameters<AudioServer['script']>[0], RegExp]>([
    [
      'refuses',
      { status: 400, message: `No such voice. ${OPENAI_KEY}` },
      /^OpenAI rejected the request \(400\): No such voice\./,
    ],
    ['fails', { status: 500 }, /^OpenAI failed \(500\)/],
    ['hangs up', 'hang-up', /^OpenAI could not be reached/],
    ['sends a page instead', { sound: Buffer.from('<html>Hello</html>') }, /did not send audio/],
  ])('when the provider %s: logged without secrets', async (_title, step, reason) => {
    server.script(step);
    expect(await spoken()).toBeNull();
    expect(warnings).toEqual([
      [
        { workspaceId, model: 'openai/gpt-4o-mini-tts', reason: expect.stringMatching(reason) },
        'a reply was not spoken',
      ],
    ]);
    expect(JSON.stringify(warnings)).not.toContain(OPENAI_KEY);
    await nothingKept();
  });

  test('when the provider takes too long', async () => {
    server.script('silence');
    expect(await spoken({ timeoutMs: 20 })).toBeNull();
    expect(await server.requests[0]?.closed).toBe(true);
    expect(warnings).toHaveLength(1);
  });

  test('when the turn is ended', async () => {
    server.script('silence');
    const turn = new AbortController();
    const reply = spoken({ signal: turn.signal });
    await server.received(1);
    turn.abort(new Error('over'));
    expect(await reply).toBeNull();
    expect(await spoken({ signal: turn.signal })).toBeNull();
    expect(server.requests).toHaveLength(1);
  });

  test('when it cannot be stored', async () => {
    const broken = { ...files, put: () => Promise.reject(new StorageError('The storage is full.')) };
    expect(await spoken({}, { files: broken })).toBeNull();
    expect(warnings).toHaveLength(1);
  });

  test('when the reply has no words: no request is sent', async () => {
    expect(await spoken({ text: '```\nx = 1\n```' })).toBeNull();
    expect([server.requests, warnings]).toEqual([[], []]);
  });
});
