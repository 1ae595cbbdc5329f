import { randomBytes } from 'node:crypto';
import type { ChannelAccount, OutboundMessage } from '../../../integrations/channels/provider.ts';
import { SendFailed } from '../../../integrations/channels/provider.ts';
import { WhatsappProvider } from '../../../integrations/channels/whatsapp/whatsapp.ts';
import { whatsappAccount } from '../../support/channels/accounts.ts';
import { startWhatsappServer, type WhatsappServer } from '../../support/servers/whatsappServer.ts';

let server: WhatsappServer;
let provider: WhatsappProvider;
let account: ChannelAccount;
const signal = new AbortController().signal;

beforeEach(async () => {
  server = await startWhatsappServer();
  account = whatsappAccount(server);
  provider = new WhatsappProvider({
    whatsappBaseUrl: server.baseUrl,
    zApiBaseUrl: 'http://127.0.0.1:1',
    allowPrivateNetwork: false,
    clock: { now: () => new Date() },
  });
});
afterEach(() => server.close());

const NUMBER = { kind: 'wa_id', value: '16505551234' } as const;
const USER = { kind: 'bsuid', value: 'US.13491208655302741918' } as const;
const say = (text: string, change: Partial<OutboundMessage> = {}): OutboundMessage => ({
  deliveryId: 'delivery-1',
  recipient: [NUMBER],
  content: { kind: 'text', text },
  ...change,
});
const send = (message: OutboundMessage) => provider.send(account, message, signal);
/** The failure of a send that throws, after a look for credentials in its text. */
async function failureOf(message: OutboundMessage): Promise<SendFailed> {
  const failure = await send(message).catch((error: unknown) => error);
  if (!(failure instanceof SendFailed)) throw new Error(`Not a failure: ${JSON.stringify(failure)}`);
  expect(JSON.stringify([failure.message, failure.cause, failure.stack])).not.toContain(server.accessToken);
  return failure;
}

describe('a text', () => {
  test('goes to the number, without a preview, with our id', async () => {
    const outcome = await send(say('Hello 👋\nhttps://example.com'));
    const [message] = server.messages;
    expect(outcome).toEqual({ kind: 'sent', providerMessageId: message?.id });
    expect(message).toMatchObject({
      address: '16505551234',
      content: 'Hello 👋\nhttps://example.com',
      callbackData: 'delivery-1',
      body: { messaging_product: 'whatsapp', recipient_type: 'individual', text: { preview_url: false } },
    });
  });

  test('goes to a business-scoped id as `recipient`: as `to` it would be lost', async () => {
    expect(await send(say('Hello', { recipient: [USER] }))).toMatchObject({ kind: 'sent' });
    expect(server.messages[0]?.body).toMatchObject({ recipient: USER.value });
    expect(server.messages[0]?.body).not.toHaveProperty('to');
    expect(server.lost).toEqual([]);
  });

  test('goes to the number seen last where one is known, whatever else was seen later', async () => {
    await send(say('One', { recipient: [{ kind: 'lid', value: '1@lid' }, USER, NUMBER] }));
    await send(say('Two', { recipient: [{ kind: 'phone', value: '4915112345678' }, USER, NUMBER] }));
    expect(server.messages.map(({ address }) => address)).toEqual([NUMBER.value, '4915112345678']);
  });

  test('to nobody that WhatsApp knows is refused without a call', async () => {
    const outcome = await send(say('Hello', { recipient: [{ kind: 'visitor', value: 'v' }] }));
    expect(outcome).toMatchObject({ kind: 'refused', code: 'NO_ADDRESS' });
    expect(server.refused).toEqual([]);
  });

  test('is as long as `maxTextCharacters`, and longer is refused', async () => {
    expect(await send(say('x'.repeat(provider.maxTextCharacters)))).toMatchObject({ kind: 'sent' });
    expect(await send(say('x'.repeat(provider.maxTextCharacters + 1)))).toMatchObject({ kind: 'refused', code: '100' });
  });
});

test.each([
  ['audio/ogg; codecs=opus', true],
  ['audio/mpeg', undefined],
])('audio of the type %s by its link', async (mediaType, voice) => {
  const content = { kind: 'audio' as const, url: 'https://hub.example.com/files/a', mediaType };
  expect(await send(say('', { content }))).toMatchObject({ kind: 'sent' });
  expect(server.messages[0]).toMatchObject({ type: 'audio', content: 'https://hub.example.com/files/a' });
  expect(server.messages[0]?.body.audio).toEqual({ link: content.url, ...(voice ? { voice } : {}) });
});

test('a template, its parameters in the form that WhatsApp takes', async () => {
  const template = { kind: 'template' as const, name: 'follow_up', language: 'pt_BR' };
  await send(say('', { content: { ...template, parameters: ['Line one\n\nline    two\ttab', ''] } }));
  await send(say('', { content: { ...template, parameters: [] } }));
  expect(server.messages.map(({ content }) => content)).toEqual([
    'follow_up|pt_BR|Line one line two tab|-',
    'follow_up|pt_BR',
  ]);
  expect(await send(say('', { content: { ...template, name: 'unknown', parameters: [] } }))).toMatchObject({
    kind: 'refused',
    code: '132001',
  });
});

describe('what is refused', () => {
  test.each([
    [{ status: 401, code: 190 }, 'TOKEN_EXPIRED'],
    [{ status: 401, code: 0 }, 'TOKEN_EXPIRED'],
    [{ status: 403, code: 368 }, 'NUMBER_BANNED'],
    [{ status: 403, code: 131031 }, 'NUMBER_BANNED'],
    [{ status: 400, code: 33 }, 'DISCONNECTED'],
    [{ status: 400, code: 100, subcode: 33 }, 'DISCONNECTED'],
    [{ status: 400, code: 133010 }, 'DISCONNECTED'],
    [{ status: 403, code: 10 }, 'PROVIDER_ERROR'],
    [{ status: 403, code: 200 }, 'PROVIDER_ERROR'],
    [{ status: 400, code: 131042 }, 'PROVIDER_ERROR'],
    [{ status: 500, code: 190 }, 'TOKEN_EXPIRED'],
    [{ status: 400, code: 131047 }, undefined],
    [{ status: 400, code: 131026 }, undefined],
    [{ status: 400, code: 130472 }, undefined],
    [{ status: 400, code: 100 }, undefined],
    [{ status: 400, code: 999_999 }, undefined],
  ])('%j is never taken; the account: %s', async (fault, problem) => {
    server.fault = fault;
    const outcome = await send(say('Hello'));
    expect(outcome).toMatchObject({ kind: 'refused', code: String(fault.code), message: 'An error' });
    expect(outcome.kind === 'refused' && outcome.problem).toBe(problem);
  });

  test('no credential is in the reason', async () => {
    server.fault = { status: 400, code: 100, message: `Bad token ${server.accessToken} and ${server.appSecret}` };
    expect(await send(say('Hello'))).toMatchObject({ message: 'Bad token … and …' });
  });

  test('an answer that is not JSON', async () => {
    server.fault = { status: 400, text: '<html>' };
    expect(await send(say('Hello'))).toMatchObject({ kind: 'refused', code: 'HTTP_400' });
  });
});

describe('what may pass', () => {
  test.each([
    { status: 400, code: 130429 },
    { status: 400, code: 80007 },
    { status: 400, code: 131056 },
    { status: 400, code: 131048 },
    { status: 500, code: 131000 },
    { status: 500, code: 2 },
    { status: 400, code: 4 },
    { status: 400, code: 777, transient: true },
    { status: 429, text: '' },
    { status: 503, text: 'Sorry' },
  ])('%j is thrown', async (fault) => {
    server.fault = fault;
    expect((await failureOf(say('Hello'))).isUnconfirmed).toBe(false);
  });

  test('a server that is not there: nothing was sent', async () => {
    await server.close();
    expect(await failureOf(say('Hello'))).toMatchObject({
      message: 'WhatsApp cannot be reached.',
      isUnconfirmed: false,
    });
  });

  test('an answer that never comes: it may have been sent', async () => {
    server.fault = { hangUpAfter: true };
    expect(await failureOf(say('Hello'))).toMatchObject({ isUnconfirmed: true });
    expect(server.messages).toHaveLength(1);
    server.fault = { status: 504, text: 'Gateway timeout' };
    expect(await failureOf(say('Hello'))).toMatchObject({ isUnconfirmed: true });
  });

  test('a redirect is not followed: the token goes nowhere else', async () => {
    const other = await startWhatsappServer();
    server.fault = { redirect: `${other.baseUrl}/${other.phoneNumberId}/messages` };
    await failureOf(say('Hello'));
    expect([other.messages, other.refused]).toEqual([[], []]);
    await other.close();
  });

  test('the caller may stop waiting', async () => {
    server.fault = { silence: true };
    const stop = new AbortController();
    const sending = provider.send(account, say('Hello'), stop.signal);
    stop.abort(new Error('Stopped.'));
    await expect(sending).rejects.toThrow('Stopped.');
  });
});

test('an accepted message without an id is known by ours, and never sent again', async () => {
  server.fault = { status: 200, text: '{"messaging_product":"whatsapp"}' };
  expect(await send(say('Hello'))).toEqual({ kind: 'sent', providerMessageId: 'unknown:delivery-1' });
});

describe('typing', () => {
  test('marks the message as read', async () => {
    await provider.showTyping(account, { recipient: [NUMBER], inReplyTo: 'wamid.in' }, signal);
    await provider.showTyping(account, { recipient: [NUMBER], inReplyTo: null }, signal);
    expect(server.typing).toEqual(['wamid.in']);
    expect(server.refused).toEqual([]);
  });

  test.each([{ status: 500, code: 1 }, { hangUp: true as const }])('never fails: %j', async (fault) => {
    server.fault = fault;
    await provider.showTyping(account, { recipient: [NUMBER], inReplyTo: 'wamid.in' }, signal);
  });
});

describe('a file', () => {
  const media = { reference: '2754859441498128', mediaType: null, filename: null };
  const fetchMedia = (change: Partial<typeof media> = {}) =>
    provider.fetchMedia(account, { ...media, ...change }, signal);

  test('is fetched by its id, with the token', async () => {
    const bytes = randomBytes(1000);
    server.media.set(media.reference, { bytes, mediaType: 'image/jpeg' });
    expect(await fetchMedia()).toEqual({ bytes, mediaType: 'image/jpeg' });
    expect(server.fetched).toEqual([`Bearer ${server.accessToken}`]);
  });

  test('that is not there, too large, or elsewhere is not fetched', async () => {
    await expect(fetchMedia()).rejects.toThrow('WhatsApp does not hand over the file (HTTP 400)');
    const bytes = Buffer.from('x');
    server.media.set(media.reference, { bytes, mediaType: 'image/jpeg', size: 21 * 1024 * 1024 });
    await expect(fetchMedia()).rejects.toThrow('The file is larger than 20 MiB.');
    const other = await startWhatsappServer();
    for (const url of [`${other.baseUrl}/x`, 'https://example.com/x', 'https://facebook.com.example.com/x', 'x']) {
      server.media.set(media.reference, { bytes, mediaType: 'image/jpeg', url });
      await expect(fetchMedia()).rejects.toThrow('The file is at an address that is not WhatsApp’s.');
    }
    expect([other.fetched, other.refused, server.fetched]).toEqual([[], [], []]);
    await other.close();
  });

  test('with more bytes than it says is cut off', async () => {
    server.media.set(media.reference, { bytes: Buffer.alloc(21 * 1024 * 1024), mediaType: 'image/jpeg', size: 5 });
    await expect(fetchMedia()).rejects.toThrow('The file is larger than 20 MiB.');
  });

  test.each(['../me', 'x/y', '1?fields=x', ''])('with the id %j is not asked for', async (reference) => {
    await expect(fetchMedia({ reference })).rejects.toThrow('The file has no valid id.');
    expect(server.refused).toEqual([]);
  });
});

describe('health', () => {
  test('is well', async () => {
    expect(await provider.checkHealth(account, signal)).toBeNull();
  });

  test.each([
    ['BANNED', 'NUMBER_BANNED'],
    ['DISCONNECTED', 'DISCONNECTED'],
  ])('a number that is %s', async (status, code) => {
    server.state.status = status;
    expect(await provider.checkHealth(account, signal)).toMatchObject({ code });
  });

  test('what blocks messages', async () => {
    const errors = [{ error_code: 131042, error_description: 'No payment method.' }];
    const entities = [{ entity_type: 'WABA', id: '1', can_send_message: 'BLOCKED', errors }];
    server.state.health = { can_send_message: 'BLOCKED', entities };
    expect(await provider.checkHealth(account, signal)).toEqual({
      code: 'PROVIDER_ERROR',
      message: 'No message can be sent: No payment method.',
    });
  });

  test('a token that expired', async () => {
    account = { ...account, credentials: { ...account.credentials, accessToken: 'expired-token' } };
    expect(await provider.checkHealth(account, signal)).toMatchObject({ code: 'TOKEN_EXPIRED' });
  });

  test('cannot be asked', async () => {
    server.fault = { status: 503, text: '' };
    await expect(provider.checkHealth(account, signal)).rejects.toThrow(SendFailed);
  });
});
