import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findHoldings } from '../../../db/queries/workspaces/limits.ts';
import { begun, LOCAL, publishedAgent, said, send, stored } from '../../http/messages/turns.ts';
import { mp3, ogg } from '../../support/files/audioSamples.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type AudioServer, startAudioServer } from '../../support/servers/audioServer.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { PNG } from '../files/attachmentSamples.ts';

let models: ModelServer;
let audio: AudioServer;
let app: TestApp;

beforeAll(async () => {
  [models, audio] = await Promise.all([startModelServer(), startAudioServer()]);
  const { openai } = audio.settings();
  app = await startTestApp({ models: models.settings(openai ? { openai } : {}) });
});
beforeEach(() => {
  models.reset();
  audio.reset();
});
afterAll(async () => {
  await app.close();
  await Promise.all([models.close(), audio.close()]);
});

const voice = { base64: ogg().toString('base64'), filename: 'voice.ogg', mediaType: 'audio/ogg; codecs=opus' };

describe('a voice message', () => {
  test('reaches a model without file input as text, and stays in the history as text', async () => {
    const agent = await publishedAgent(app, { audioListeningEnabled: true });
    audio.script({ text: 'Where is my order?' });
    const { body } = await send(app, agent, { attachments: [voice] }).expect(200);
    expect(said(models.requests[0]).at(-1)).toBe('user: [Voice message] Where is my order?');
    await send(app, agent, { content: 'Number 42.', conversationId: body.conversationId }).expect(200);
    expect(said(models.requests[1]).slice(-3)).toEqual([
      'user: [Voice message] Where is my order?',
      'assistant: Hello from the model.',
      'user: Number 42.',
    ]);
    const [kept] = await stored(app, body.conversationId);
    expect(kept).toMatchObject({ role: 'user', content: '' });
    const row = await app.workspace.db
      .selectFrom('messages')
      .select('attachments')
      .where('conversation_id', '=', body.conversationId)
      .where('role', '=', 'user')
      .orderBy('seq')
      .executeTakeFirstOrThrow();
    expect(row.attachments).toEqual([
      {
        mediaType: 'audio/ogg',
        filename: 'voice.ogg',
        sizeBytes: ogg().length,
        sha256: expect.any(String),
        transcript: 'Where is my order?',
      },
    ]);
  });

  test('is combined with the written text', async () => {
    const agent = await publishedAgent(app, { audioListeningEnabled: true });
    audio.script({ text: 'This one.' });
    await send(app, agent, { content: 'Which order?', attachments: [voice] }).expect(200);
    expect(said(models.requests[0]).at(-1)).toBe('user: Which order?\n\n[Voice message] This one.');
  });

  test('422 without the feature, and for files that the model does not take', async () => {
    const deaf = await send(app, await publishedAgent(app), { attachments: [voice] }).expect(422);
    expect([deaf.body.code, deaf.body.message]).toEqual([
      'UNSUPPORTED_ATTACHMENT',
      expect.stringContaining('audioListeningEnabled'),
    ]);
    const agent = await publishedAgent(app, { audioListeningEnabled: true });
    const image = { base64: PNG.toString('base64') };
    const blind = await send(app, agent, { attachments: [voice, image] }).expect(422);
    expect(blind.body.message).toContain('takes no images');
    expect([audio.requests.length, models.requests.length]).toEqual([0, 0]);
  });

  test('502 when it cannot be transcribed', async () => {
    const agent = await publishedAgent(app, { audioListeningEnabled: true });
    audio.script({ status: 500 });
    const { body } = await send(app, agent, { attachments: [voice] }).expect(502);
    expect(body.code).toBe('MODEL_PROVIDER_ERROR');
    expect(models.requests).toHaveLength(0);
  });

  test('is not transcribed when the monthly limit is reached, and a failed one does not count', async () => {
    const agent = await publishedAgent(app, { audioListeningEnabled: true });
    const { body: sent } = await send(app, agent, { content: 'Hello.' }).expect(200);
    const limit = async (operations: number | null) => {
      const { system } = app.database.database;
      const { workspaceId } = app.workspace;
      await system
        .updateTable('workspaces')
        .set({ operation_limit: operations })
        .where('id', '=', workspaceId)
        .execute();
    };
    const { count } = await app.workspace.db
      .selectFrom('messages')
      .select((query) => query.fn.sum<string>('cost_ops').as('count'))
      .executeTakeFirstOrThrow();
    await limit(Number(count) + 1);
    try {
      for (const conversationId of [undefined, sent.conversationId]) {
        audio.script({ status: 500 });
        await send(app, agent, { conversationId, attachments: [voice] }).expect(502);
      }
      await send(app, agent, { attachments: [voice] }).expect(200);
      audio.reset();
      for (const conversationId of [undefined, sent.conversationId]) {
        const { body } = await send(app, agent, { conversationId, attachments: [voice] }).expect(429);
        expect(body.code).toBe('OPERATION_LIMIT_REACHED');
      }
      expect(audio.requests).toHaveLength(0);
    } finally {
      await limit(null);
    }
  });
});

describe('a spoken reply', () => {
  const speaking = { audioResponseEnabled: true, ttsVoice: 'nova', aiModelPublicId: LOCAL };

  test('has a public address, and the prompt says that the reply is read aloud', async () => {
    const agent = await publishedAgent(app, speaking);
    models.script({ reply: 'It is on its **way**.' });
    const conversationId = await begun(app, agent);
    expect(said(models.requests[0])[0]).toContain('# Voice');
    expect(audio.requests[0]).toMatchObject({ input: 'It is on its way.', voice: 'nova' });
    const [question, reply] = await stored(app, conversationId);
    expect(question?.audioUrl).toBeNull();
    expect(reply?.audioUrl).toMatch(new RegExp(`^${app.origin}/files/${app.workspace.workspaceId}/speech/`));
    const sound = await fetch(reply?.audioUrl ?? '');
    expect([sound.status, sound.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(Buffer.from(await sound.arrayBuffer()).equals(mp3())).toBe(true);
  });

  test('is deleted when the conversation was deleted meanwhile', async () => {
    const agent = await publishedAgent(app, speaking);
    const folder = join(app.dataDir, 'files', app.workspace.workspaceId, 'speech');
    const conversationId = await begun(app, agent);
    const before = await readdir(folder);
    const gate = gatedReply();
    models.script({ reply: gate.chunks });
    const running = send(app, agent, { content: 'And?', conversationId }).then((answer) => answer.status);
    await models.received(2);
    await app.api('delete', `/conversations/${conversationId}`).expect(204);
    gate.push('Too late.');
    gate.end();
    expect(await running).toBe(404);
    expect(audio.requests).toHaveLength(2);
    expect((await readdir(folder)).length).toBe(before.length - 1);
  });

  test('counts as stored until its conversation is deleted, and is not made without storage', async () => {
    const agent = await publishedAgent(app, speaking);
    const { db, workspaceId } = app.workspace;
    const used = async () => (await findHoldings(db, workspaceId, app.clock.now())).storageBytes;
    const before = await used();
    const conversationId = await begun(app, agent);
    expect(await used()).toBe(before + mp3().length);
    const limit = (storage_limit: number) =>
      app.database.database.system
        .updateTable('workspaces')
        .set({ storage_limit })
        .where('id', '=', workspaceId)
        .execute();
    await limit(before + mp3().length);
    audio.reset();
    const silent = await begun(app, agent);
    expect((await stored(app, silent))[1]).toMatchObject({ content: 'Hello from the model.', audioUrl: null });
    expect(audio.requests).toHaveLength(0);
    await app.api('delete', `/conversations/${conversationId}`).expect(204);
    expect(await used()).toBe(before);
    await limit(10 * 1024 ** 3);
  });

  test('is sent without a recording when the provider fails', async () => {
    const agent = await publishedAgent(app, speaking);
    audio.script({ status: 500 });
    const [, reply] = await stored(app, await begun(app, agent));
    expect(reply).toMatchObject({ content: 'Hello from the model.', audioUrl: null });
  });
});
