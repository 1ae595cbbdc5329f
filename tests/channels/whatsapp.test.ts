import { sql } from 'kysely';
import { conversation, customModel, said, stored, transcript } from '../http/messages/turns.ts';
import { PNG } from '../runtime/files/attachmentSamples.ts';
import {
  type AgentOnChannel,
  contentsAt,
  conversationsAt,
  deliveriesAt,
  metaSends,
  onWhatsapp,
  settled,
  useChannelApp,
} from '../support/channels/channelApp.ts';
import { BSUID, change, echoPost, PERSON, post, statusPost, textPost } from '../support/channels/whatsappPayloads.ts';
import { mp3, ogg } from '../support/files/audioSamples.ts';
import { poll, until } from '../support/poll.ts';
import { adminJson } from '../support/scripts/admin.ts';
import { gatedReply } from '../support/servers/modelServer.ts';
import { toolCall } from '../support/turns/exchanges.ts';
import { HOUR_MS, sendDue } from '../support/turns/followUps.ts';

/* A conversation over WhatsApp, from the webhook to the message at Meta and back: everything runs as in production, Meta is a stand-in. */

const here = useChannelApp();

/** The time of the test in the seconds of a payload. */
const now = () => String(Math.floor(here.clock.now().getTime() / 1000));
let agent: AgentOnChannel;
/** A person writes. Ids are unique in a test by their text. */
const writes = (text: string, who: Parameters<typeof textPost>[1] = 'both', id?: string) =>
  metaSends(here, agent, textPost(text, who, id, now()));
const onlyConversation = async () => {
  const [first, ...others] = await conversationsAt(here, agent);
  if (!first || others.length > 0) throw new Error(`Not one conversation: ${others.length}`);
  return first;
};

test('a message is answered, and what becomes of the answer is kept with it', async () => {
  agent = await onWhatsapp(here);
  here.models.script({ reply: 'We are open until six.' });
  await writes('When do you close?');
  expect(await contentsAt(here.whatsapp, 1)).toEqual(['We are open until six.']);
  const [message] = here.whatsapp.messages;
  expect(message?.address).toBe(PERSON);

  const { id } = await onlyConversation();
  expect(await conversation(here.app, id)).toMatchObject({ channel: 'whatsapp', externalUserId: PERSON });
  expect(await transcript(here.app, id)).toEqual(['user: When do you close?', 'assistant: We are open until six.']);
  expect(said(here.models.requests[0]).at(-1)).toBe('user: When do you close?');
  expect(await settled(here, agent)).toEqual(['answered']);

  const delivery = await until(async () => (await deliveriesAt(here, agent)).find(({ status }) => status === 'sent'));
  expect(delivery).toMatchObject({ id: message?.callbackData, provider_message_id: message?.id, attempts: 1 });
  // In any order, and more than once.
  for (const status of ['read', 'sent', 'delivered', 'read']) {
    await metaSends(here, agent, statusPost(message?.id ?? '', status, { timestamp: now() }));
  }
  const [kept] = await deliveriesAt(here, agent);
  expect(kept).toMatchObject({ status: 'read', read_at: expect.any(Date), delivered_at: expect.any(Date) });
});

test('a webhook that comes again, also while its turn runs, is answered once', async () => {
  agent = await onWhatsapp(here);
  const gate = gatedReply();
  here.models.script({ reply: gate.chunks });
  await writes('Hello?', 'both', 'wamid.1');
  await here.models.received(1);
  await Promise.all([1, 2, 3].map(() => writes('Hello?', 'both', 'wamid.1')));
  gate.push('Hi!');
  gate.end();
  expect(await contentsAt(here.whatsapp, 1)).toEqual(['Hi!']);
  await writes('Hello?', 'both', 'wamid.1');
  expect(await settled(here, agent)).toEqual(['answered']);
  expect([here.models.requests.length, here.whatsapp.messages.length]).toEqual([1, 1]);
});

describe('one person has one conversation', () => {
  test('named by a business-scoped id only, and answered there', async () => {
    agent = await onWhatsapp(here);
    await writes('One', 'bsuid');
    await contentsAt(here.whatsapp, 1);
    await writes('Two', 'bsuid-only');
    await contentsAt(here.whatsapp, 2);
    expect(here.whatsapp.messages.map(({ body }) => body.recipient)).toEqual([BSUID, BSUID]);
    expect(here.whatsapp.lost).toEqual([]);
    expect(await onlyConversation()).toMatchObject({ external_user_id: BSUID });
  });

  test('the number first, both later, then the id alone', async () => {
    agent = await onWhatsapp(here);
    for (const [at, who] of (['number', 'both', 'bsuid-only'] as const).entries()) {
      await writes(`Message ${at}`, who);
      await contentsAt(here.whatsapp, at + 1);
    }
    expect(await onlyConversation()).toMatchObject({ external_user_id: PERSON });
    expect(here.whatsapp.messages.map(({ address }) => address)).toEqual([PERSON, PERSON, PERSON]);
  });

  test('the number first, and the id alone after a delivery has shown both', async () => {
    agent = await onWhatsapp(here);
    await writes('One', 'number');
    await contentsAt(here.whatsapp, 1);
    await metaSends(here, agent, statusPost(here.whatsapp.messages[0]?.id ?? '', 'delivered', { timestamp: now() }));
    await writes('Two', 'bsuid-only');
    await contentsAt(here.whatsapp, 2);
    expect(await transcript(here.app, (await onlyConversation()).id)).toHaveLength(4);
  });
});

test('a picture is fetched at receipt, and the model sees it', async () => {
  const aiModelPublicId = await customModel(here.app.workspace, { image: true });
  agent = await onWhatsapp(here, { aiModelPublicId });
  here.whatsapp.media.set('777', { bytes: PNG, mediaType: 'image/png' });
  const image = { id: '777', mime_type: 'image/png', sha256: 'x', caption: 'What is this?' };
  const picture = { from: PERSON, id: 'wamid.image', timestamp: now(), type: 'image', image };
  await metaSends(here, agent, post([change({ messages: [picture] })]));
  await contentsAt(here.whatsapp, 1);
  expect(here.whatsapp.fetched).toEqual([`Bearer ${here.whatsapp.accessToken}`]);
  expect(JSON.stringify(here.models.requests[0]?.body)).toContain(PNG.toString('base64').slice(0, 60));
  const [first] = await stored(here.app, (await onlyConversation()).id);
  expect(first).toMatchObject({ role: 'user', content: 'What is this?' });
});

test('a voice message is heard, and answered by voice', async () => {
  agent = await onWhatsapp(here, { audioListeningEnabled: true, audioResponseEnabled: true, ttsVoice: 'alloy' });
  here.audio.script({ text: 'Where is my order?' });
  here.models.script({ reply: 'It comes tomorrow.' });
  here.whatsapp.media.set('888', { bytes: ogg(), mediaType: 'audio/ogg' });
  const audio = { id: '888', mime_type: 'audio/ogg; codecs=opus', voice: true };
  const voice = { from: PERSON, id: 'wamid.voice', timestamp: now(), type: 'audio', audio };
  await metaSends(here, agent, post([change({ messages: [voice] })]));
  const [link = ''] = await contentsAt(here.whatsapp, 1);
  expect(said(here.models.requests[0]).at(-1)).toBe('user: [Voice message] Where is my order?');
  expect(here.whatsapp.messages).toMatchObject([{ type: 'audio' }]);
  // Meta fetches it without any credential.
  const fetched = await fetch(link);
  expect([fetched.status, fetched.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
  expect(Buffer.from(await fetched.arrayBuffer())).toEqual(mp3());
});

describe('after 24 hours without a word of the person', () => {
  const followUps = {
    followUpEnabled: true,
    followUpAfterHours: 25,
    followUpIntervalMinutes: 60,
    followUpMaxAttempts: 1,
    followUpPrompt: 'Ask whether the order came.',
  };
  const becomesSilent = async () => {
    await writes('Thanks!');
    await contentsAt(here.whatsapp, 1);
    await settled(here, agent);
    here.clock.advance(25 * HOUR_MS);
    here.models.script({ reply: 'Did it come?' });
    await sendDue(here.app);
  };

  test('a follow-up goes out as the template of the connection', async () => {
    agent = await onWhatsapp(here, followUps, { templateName: 'follow_up', templateLanguage: 'en_US' });
    await becomesSilent();
    expect((await contentsAt(here.whatsapp, 2)).at(-1)).toBe('follow_up|en_US');
    expect(here.whatsapp.messages.map(({ type }) => type)).toEqual(['text', 'template']);
  });

  test('a follow-up without a template is dropped, and says why', async () => {
    agent = await onWhatsapp(here, followUps);
    await becomesSilent();
    const dropped = await until(async () =>
      (await deliveriesAt(here, agent)).find(({ status }) => status === 'dropped'),
    );
    expect(dropped).toMatchObject({ error_code: 'OUTSIDE_WINDOW' });
    expect(here.whatsapp.messages).toHaveLength(1);
    // The person writes: the window is open again.
    await writes('Hello again');
    expect(await contentsAt(here.whatsapp, 2)).toHaveLength(2);
  });
});

test('what somebody writes on the phone silences the agent for 12 hours', async () => {
  agent = await onWhatsapp(here);
  await writes('Is anybody there?');
  await contentsAt(here.whatsapp, 1);
  await metaSends(here, agent, echoPost('I am Ana, I will help you.', { to: PERSON }, 'wamid.echo', now()));
  const paused = await poll(onlyConversation, ({ is_paused }) => is_paused);
  expect(paused.paused_by).toBe('person');
  const hours = ((paused.paused_until?.getTime() ?? 0) - here.clock.now().getTime()) / HOUR_MS;
  expect(hours).toBeGreaterThan(11.9);
  expect(hours).toBeLessThanOrEqual(12);
  await writes('Thank you, Ana.');
  await settled(here, agent);
  expect(here.models.requests).toHaveLength(1);

  here.clock.advance(12 * HOUR_MS + 1000);
  await writes('One more thing.');
  await contentsAt(here.whatsapp, 2);
  const told = said(here.models.requests[1]).join('\n');
  for (const text of ['I am Ana, I will help you.', 'Thank you, Ana.', 'One more thing.']) expect(told).toContain(text);
});

test('the agent hands over: its last words go out, and it is silent until an operator resumes', async () => {
  agent = await onWhatsapp(here);
  here.models.script(
    { reply: '', toolCalls: [toolCall('hand_over', { reason: 'The person asked.' })] },
    { reply: 'Somebody will answer you.' },
  );
  await writes('A person, please.');
  expect(await contentsAt(here.whatsapp, 1)).toEqual(['Somebody will answer you.']);
  const { id, is_paused } = await onlyConversation();
  expect(is_paused).toBe(true);
  await writes('Hello?');
  await settled(here, agent);
  await adminJson(here.app, 'conversation', 'resume', id);
  await writes('Are you back?');
  await contentsAt(here.whatsapp, 2);
  expect(here.models.requests).toHaveLength(3);
  expect(said(here.models.requests[2]).join('\n')).toContain('Hello?');
});

test('a long reply goes out in pieces that WhatsApp takes, in their order, after a sign that it is being written', async () => {
  agent = await onWhatsapp(here);
  const words = Array.from({ length: 2500 }, (_, index) => `word${index}`);
  here.models.script({ reply: words.join(' ') });
  await writes('Tell me everything.', 'both', 'wamid.long');
  await settled(here, agent);
  const pieces = await poll(
    async () => (await deliveriesAt(here, agent)).map(({ status }) => status),
    (statuses) => statuses.length > 1 && statuses.every((status) => status === 'sent'),
  );
  const contents = await contentsAt(here.whatsapp, pieces.length);
  expect(contents.every((content) => content.length <= 4096)).toBe(true);
  expect(contents.join(' ').split(/\s+/)).toEqual(words);
  expect(here.whatsapp.typing).toContain('wamid.long');
});

test('nothing of the credentials is stored in the clear', async () => {
  agent = await onWhatsapp(here);
  const { rows } = await sql<{ text: string }>`select c::text as text from channel_connections c`.execute(
    here.app.database.database.system,
  );
  for (const secret of [here.whatsapp.accessToken, here.whatsapp.appSecret, here.whatsapp.verifyToken]) {
    expect(rows.map(({ text }) => text).join()).not.toContain(secret);
  }
});
