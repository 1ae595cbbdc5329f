import { said, stored, transcript } from '../http/messages/turns.ts';
import {
  type AgentOnChannel,
  contentsAt,
  conversationsAt,
  deliveriesAt,
  onZApi,
  settled,
  useChannelApp,
  zApiSends,
} from '../support/channels/channelApp.ts';
import { received, ZAPI_PERSON, zApiEcho, zApiStatus, zApiText } from '../support/channels/zApiPayloads.ts';
import { mp3, ogg } from '../support/files/audioSamples.ts';
import { poll, until } from '../support/poll.ts';
import { adminJson } from '../support/scripts/admin.ts';
import { gatedReply } from '../support/servers/modelServer.ts';
import { HOUR_MS } from '../support/turns/followUps.ts';

/* A conversation over Z-API, from the webhook to the message at Z-API and back: everything runs as in production, Z-API is a stand-in. */

const here = useChannelApp();
let agent: AgentOnChannel;
/** A webhook of the instance, now. */
const arrives = (payload: object) =>
  zApiSends(here, agent, { ...payload, instanceId: here.zApi.instanceId, momment: here.clock.now().getTime() });
const onlyConversation = async () => {
  const [first, ...others] = await conversationsAt(here, agent);
  if (!first || others.length > 0) throw new Error(`Not one conversation: ${others.length}`);
  return first;
};

test('a message is answered, and what becomes of the answer is kept with it', async () => {
  agent = await onZApi(here);
  here.models.script({ reply: 'Bom dia!' });
  await arrives(zApiText('Oi', 'both'));
  expect(await contentsAt(here.zApi, 1)).toEqual(['Bom dia!']);
  expect(here.zApi.messages[0]?.phone).toBe(ZAPI_PERSON);
  const { id } = await onlyConversation();
  expect(await transcript(here.app, id)).toEqual(['user: Oi', 'assistant: Bom dia!']);
  await until(async () => (await deliveriesAt(here, agent))[0]?.status === 'sent');
  const messageId = here.zApi.messages[0]?.messageId ?? '';
  await arrives(zApiStatus([messageId], 'READ'));
  await arrives(zApiStatus([messageId], 'RECEIVED'));
  expect(await deliveriesAt(here, agent)).toMatchObject([{ status: 'read', provider_message_id: messageId }]);
});

test('one person has one conversation: the hidden number first, the number later, then the hidden one alone', async () => {
  agent = await onZApi(here);
  for (const [at, who] of (['lid', 'both', 'lid'] as const).entries()) {
    await arrives(zApiText(`Mensagem ${at}`, who));
    await contentsAt(here.zApi, at + 1);
  }
  expect(await transcript(here.app, (await onlyConversation()).id)).toHaveLength(6);
  expect(here.zApi.messages.map(({ phone }) => phone)).toEqual(['81896604192873@lid', ZAPI_PERSON, ZAPI_PERSON]);
});

test('a message that is not decrypted yet is answered when it is', async () => {
  agent = await onZApi(here);
  await arrives(received({}, { waitingMessage: true, messageId: 'W1' }));
  await arrives(zApiText('Agora sim', 'phone', 'W1'));
  await contentsAt(here.zApi, 1);
  expect(await transcript(here.app, (await onlyConversation()).id)).toEqual([
    'user: Agora sim',
    'assistant: Hello from the model.',
  ]);
});

test('a voice message is heard, and answered by voice', async () => {
  agent = await onZApi(here, { audioListeningEnabled: true, audioResponseEnabled: true, ttsVoice: 'alloy' });
  here.audio.script({ text: 'Cadê meu pedido?' });
  here.zApi.files.set('a.ogg', { bytes: ogg(), mediaType: 'audio/ogg' });
  const audio = { audioUrl: `${here.zApi.baseUrl}/files/a.ogg`, mimeType: 'audio/ogg; codecs=opus' };
  await arrives(received({ audio }));
  const [link = ''] = await contentsAt(here.zApi, 1);
  expect(said(here.models.requests[0]).at(-1)).toBe('user: [Voice message] Cadê meu pedido?');
  expect(here.zApi.messages[0]?.kind).toBe('audio');
  expect(Buffer.from(await (await fetch(link)).arrayBuffer())).toEqual(mp3());
});

test('a file that cannot be fetched does not lose the message', async () => {
  agent = await onZApi(here);
  const document = { documentUrl: 'http://169.254.169.254/secret', mimeType: 'application/pdf', fileName: 'nota.pdf' };
  await arrives(received({ document: { ...document, caption: 'A nota' } }));
  await contentsAt(here.zApi, 1);
  const told = said(here.models.requests[0]).at(-1);
  expect(told).toContain('A nota');
  expect(told).toContain('could not be fetched');
});

describe('what the number itself writes', () => {
  test('on the phone silences the agent for 12 hours, and is history', async () => {
    agent = await onZApi(here);
    await arrives(zApiText('Tem alguém aí?', 'both'));
    await contentsAt(here.zApi, 1);
    await arrives(zApiEcho('Oi, aqui é a Ana.'));
    const paused = await poll(onlyConversation, ({ is_paused }) => is_paused);
    expect(paused.paused_by).toBe('person');
    await arrives(zApiText('Obrigado!', 'phone'));
    await settled(here, agent);
    expect(here.models.requests).toHaveLength(1);
    here.clock.advance(12 * HOUR_MS + 1000);
    await arrives(zApiText('Mais uma coisa', 'phone'));
    await contentsAt(here.zApi, 2);
    expect(said(here.models.requests[1]).join('\n')).toContain('Oi, aqui é a Ana.');
  });

  test('by the agent comes back as an echo, with and without its mark, and silences nobody', async () => {
    agent = await onZApi(here);
    const gate = gatedReply();
    here.models.script({ reply: gate.chunks });
    await arrives(zApiText('Oi', 'phone'));
    gate.push('Olá!');
    gate.end();
    await contentsAt(here.zApi, 1);
    const messageId = here.zApi.messages[0]?.messageId ?? '';
    await arrives(zApiEcho('Olá!', { messageId, fromApi: true }));
    // Before the answer to the send is stored, or after it.
    await arrives(zApiEcho('Olá!', { messageId, fromApi: false }));
    await settled(here, agent);
    expect(await onlyConversation()).toMatchObject({ is_paused: false });
    await arrives(zApiText('E agora?', 'phone'));
    await contentsAt(here.zApi, 2);
    expect(await stored(here.app, (await onlyConversation()).id)).toHaveLength(4);
  });
});

describe('what goes wrong at Z-API', () => {
  const failed = () => until(async () => (await deliveriesAt(here, agent)).find(({ status }) => status === 'failed'));

  test('a token that is refused is a failed delivery and the health of the connection, and in no log', async () => {
    agent = await onZApi(here);
    here.zApi.clientToken = 'another-client-token-0123456789';
    await arrives(zApiText('Oi', 'phone'));
    expect(await failed()).toMatchObject({ error_code: 'HTTP_403' });
    await poll(
      () => adminJson(here.app, 'channel', 'list').then(JSON.stringify),
      (shown) => shown.includes('TOKEN_EXPIRED'),
    );
  });

  test('an answer that is lost: the message is not sent again', async () => {
    agent = await onZApi(here);
    here.zApi.fault = { hangUpAfter: true };
    await arrives(zApiText('Oi', 'phone'));
    await failed();
    expect(here.zApi.messages).toHaveLength(1);
    expect(await deliveriesAt(here, agent)).toMatchObject([
      { attempts: 1, error_message: 'Z-API closed the connection before it answered.' },
    ]);
  });
});

test('a phone that is gone is shown as the health of the connection, until it is back', async () => {
  agent = await onZApi(here);
  const shown = async () => JSON.stringify(await adminJson(here.app, 'channel', 'list'));
  await arrives({ type: 'DisconnectedCallback', error: 'Device has been disconnected', disconnected: true });
  expect(await shown()).toContain('DISCONNECTED');
  await arrives({ type: 'ConnectedCallback', connected: true, phone: '554488888888' });
  expect(await shown()).not.toContain('DISCONNECTED');
});

test('groups, newsletters and reactions are never answered', async () => {
  agent = await onZApi(here);
  const text = { text: { message: 'Oi' } };
  await arrives(received(text, { messageId: 'G1', isGroup: true, phone: '5544999999999-group' }));
  await arrives(received(text, { messageId: 'N1', isNewsletter: true, phone: '120363166555745933@newsletter' }));
  await arrives(received({ reaction: { value: '❤️' } }, { messageId: 'R1' }));
  await arrives(zApiText('Oi', 'phone'));
  await contentsAt(here.zApi, 1);
  await settled(here, agent);
  expect(here.models.requests).toHaveLength(1);
  // The reaction is history.
  expect(said(here.models.requests[0]).join('\n')).toContain('The person reacted to a message with ❤️');
});
