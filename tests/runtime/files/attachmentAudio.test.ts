import {
  type AttachmentInput,
  resolveAttachments,
  toModelParts,
  toStored,
  withAttachmentNotes,
} from '../../../runtime/files/attachments.ts';
import { trapConnections, trapPort, useServers } from '../../core/outgoingServers.ts';
import { element, flac, mp3, mp4, ogg, wav, webm } from '../../support/files/audioSamples.ts';
import { processorMs } from '../../support/processorTime.ts';
import { CONTEXT, faultOf, inline, MODEL, PNG } from './attachmentSamples.ts';

useServers();

const LISTENING = { ...CONTEXT, listens: true };

describe('an agent that listens', () => {
  test.each<[string, Buffer, AttachmentInput, string, string]>([
    ['MP3', mp3(), {}, 'audio/mpeg', 'attachment-0.mp3'],
    [
      'MP3 with a tag',
      Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'), mp3()]),
      {},
      'audio/mpeg',
      'attachment-0.mp3',
    ],
    ['MP3 by its nickname', mp3(), { mediaType: 'audio/mp3' }, 'audio/mpeg', 'attachment-0.mp3'],
    ['WAV', wav(), { mediaType: 'audio/x-wav' }, 'audio/wav', 'attachment-0.wav'],
    ['OGG with Opus', ogg(), { mediaType: 'audio/ogg; codecs=opus' }, 'audio/ogg', 'attachment-0.ogg'],
    ['Opus by its nickname', ogg(), { mediaType: 'audio/opus' }, 'audio/ogg', 'attachment-0.ogg'],
    ['FLAC', flac(), { mediaType: 'audio/flac' }, 'audio/flac', 'attachment-0.flac'],
    ['M4A', mp4(['soun']), { mediaType: 'audio/x-m4a' }, 'audio/mp4', 'attachment-0.m4a'],
    ['MP4 with sound alone', mp4(['soun'], 'isom'), { mediaType: 'video/mp4' }, 'audio/mp4', 'attachment-0.m4a'],
    ['WebM with sound alone', webm([2]), { mediaType: 'video/webm' }, 'audio/webm', 'attachment-0.webm'],
    ['under a wrong name', ogg(), { filename: 'voice.txt' }, 'audio/ogg', 'voice.txt'],
  ])('takes %s', async (_title, bytes, more, mediaType, filename) => {
    const [one] = await resolveAttachments([inline(bytes, more)], LISTENING);
    expect(one).toMatchObject({ kind: 'audio', mediaType, filename, sizeBytes: bytes.length });
  });

  test('accepts audio for every model, and no other kind that the model does not accept', async () => {
    const context = { ...LISTENING, model: { ...MODEL, supportsImage: false, supportsDocument: false } };
    expect(await resolveAttachments([inline(mp3())], context)).toMatchObject([{ kind: 'audio' }]);
    expect((await faultOf([inline(PNG)], context)).message).toBe(
      'attachments[0] is image/png, but the model test-model takes no images.',
    );
  });

  test.each<[string, Buffer, RegExp]>([
    ['MP4', mp4(['vide', 'soun'], 'isom'), /is a video, which is not accepted/],
    ['WebM', webm([2, 1]), /is a video, which is not accepted/],
    ['MP4 without a list of tracks', mp4([], 'isom'), /is a video, which is not accepted/],
    ['WebM whose tracks come after its content', webmBackwards(), /is a video, which is not accepted/],
  ])('takes no film: %s', async (_title, bytes, message) => {
    const error = await faultOf([inline(bytes)], { listens: true });
    expect([error.code, error.message]).toEqual(['UNSUPPORTED_ATTACHMENT', expect.stringMatching(message)]);
  });

  test('holds audio to what is declared of it', async () => {
    const error = await faultOf([inline(ogg(), { mediaType: 'audio/mpeg' })], { listens: true });
    expect(error.message).toContain('is declared as audio/mpeg, but its content is audio/ogg.');
    expect((await faultOf([inline(webm([2]), { mediaType: 'video/mp4' })], { listens: true })).message).toContain(
      'is declared as video/mp4, which is not accepted.',
    );
  });

  test('reads a text that begins like an MP3 as the text that it is', async () => {
    const text = Buffer.from('ID3 is how a tag begins\n'.repeat(20));
    expect(await resolveAttachments([inline(text, { filename: 'tags.txt' })], LISTENING)).toMatchObject([
      { kind: 'document', mediaType: 'text/plain' },
    ]);
  });

  test('rejects a file of a million empty parts quickly', async () => {
    const head = webm([]).subarray(0, webm([]).indexOf(Buffer.from('18538067', 'hex')));
    const parts = Buffer.concat([
      head,
      element('18538067', Buffer.alloc(1_000_000, Buffer.from('ec80', 'hex')), 'open'),
    ]);
    const boxes = Buffer.concat([mp4([], 'isom'), Buffer.alloc(800_000, Buffer.from('0000000866726565', 'hex'))]);
    for (const bytes of [parts, boxes]) {
      const ms = await processorMs(async () =>
        expect((await faultOf([inline(bytes)], { listens: true })).message).toContain('is a video'),
      );
      expect(ms).toBeLessThan(400);
    }
  });
});

describe('an agent that does not listen', () => {
  const DEAF =
    'The agent does not listen to audio. Switch its feature "audio" on (audioListeningEnabled) and publish it.';

  test('refuses audio, and says what to switch on', async () => {
    const error = await faultOf([inline(ogg(), { filename: 'voice.ogg' })]);
    expect([error.status, error.code]).toEqual([422, 'UNSUPPORTED_ATTACHMENT']);
    expect(error.message).toBe(`attachments[0] (voice.ogg) is audio/ogg. ${DEAF}`);
  });

  test('says so also when its model accepts no attachments, and fetches nothing', async () => {
    const model = { ...MODEL, supportsImage: false, supportsDocument: false };
    const url = { url: `http://127.0.0.1:${trapPort}/` };
    expect((await faultOf([url, inline(mp3())], { model })).message).toBe(DEAF);
    expect((await faultOf([url, inline(PNG)], { model })).message).toBe('The model test-model takes no attachments.');
    expect(trapConnections).toBe(0);
  });
});

test('a recording is no part of the prompt, and one with a transcript has no note: the content says it', async () => {
  const resolved = await resolveAttachments([inline(ogg()), inline(PNG)], LISTENING);
  expect(toModelParts(resolved)).toMatchObject([{ type: 'file', mediaType: 'image/png' }]);
  const [audio, image] = toStored(resolved);
  if (!audio || !image) throw new Error('two were sent');
  const note = '[attachment: attachment-1.png, image/png, 70 bytes]';
  expect(withAttachmentNotes('[Voice message] Hi', [{ ...audio, transcript: 'Hi' }, image])).toBe(
    `[Voice message] Hi\n${note}`,
  );
  expect(withAttachmentNotes('', [audio])).toMatch(/^\[attachment: attachment-0\.ogg, audio\/ogg, \d+ bytes\]$/);
});

/** The one order in which a reader would have to go through the whole film. */
function webmBackwards(): Buffer {
  const whole = webm([2]);
  const head = whole.subarray(0, whole.indexOf(Buffer.from('18538067', 'hex')));
  const tracks = element('1654ae6b', element('ae', element('83', Buffer.from([2]))));
  return Buffer.concat([
    head,
    element('18538067', Buffer.concat([element('1f43b675', Buffer.alloc(9)), tracks]), 'open'),
  ]);
}
