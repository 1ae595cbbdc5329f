import { randomBytes } from 'node:crypto';
import type { ChannelAccount, OutboundMessage } from '../../../integrations/channels/provider.ts';
import { SendFailed } from '../../../integrations/channels/provider.ts';
import { ZApiProvider } from '../../../integrations/channels/zApi/zApi.ts';
import { zApiAccount } from '../../support/channels/accounts.ts';
import { startZApiServer, type ZApiServer } from '../../support/servers/zApiServer.ts';

let server: ZApiServer;
let provider: ZApiProvider;
let account: ChannelAccount;
const signal = new AbortController().signal;

beforeEach(async () => {
  server = await startZApiServer();
  account = zApiAccount(server);
  provider = new ZApiProvider({
    whatsappBaseUrl: 'http://127.0.0.1:1',
    zApiBaseUrl: server.baseUrl,
    allowPrivateNetwork: false,
    clock: { now: () => new Date() },
  });
});
afterEach(() => server.close());

const say = (text: string, change: Partial<OutboundMessage> = {}): OutboundMessage => ({
  deliveryId: 'delivery-1',
  recipient: [{ kind: 'phone', value: '5544999999999' }],
  content: { kind: 'text', text },
  ...change,
});
const send = (message: OutboundMessage) => provider.send(account, message, signal);
async function failureOf(message: OutboundMessage): Promise<SendFailed> {
  const failure = await send(message).catch((error: unknown) => error);
  if (!(failure instanceof SendFailed)) throw new Error(`Not a failure: ${JSON.stringify(failure)}`);
  const told = JSON.stringify([failure.message, failure.cause, failure.stack]);
  for (const secret of [server.instanceToken, server.clientToken]) expect(told).not.toContain(secret);
  return failure;
}

test('a text goes to the number', async () => {
  const outcome = await send(say('Olá\nmundo'));
  const [message] = server.messages;
  expect(outcome).toEqual({ kind: 'sent', providerMessageId: message?.messageId });
  expect(message?.body).toEqual({ phone: '5544999999999', message: 'Olá\nmundo', delayMessage: 1 });
});

test('a text goes to the address that hides the number', async () => {
  await send(say('Olá', { recipient: [{ kind: 'lid', value: '81896604192873@lid' }] }));
  expect(server.messages[0]?.phone).toBe('81896604192873@lid');
});

test('a text goes to the number where one is known', async () => {
  const number = { kind: 'phone' as const, value: '5544999999999' };
  await send(say('Olá', { recipient: [{ kind: 'lid', value: '81896604192873@lid' }, number] }));
  expect(server.messages[0]?.phone).toBe(number.value);
});

test.each([
  [1, 1],
  [4200, 5],
  [60_000, 15],
])('typing for %i ms is shown for %i s', async (typingMs, delayTyping) => {
  await send(say('Olá', { typingMs }));
  expect(server.messages[0]?.body).toMatchObject({ delayTyping });
});

test('audio by its link', async () => {
  await send(say('', { content: { kind: 'audio', url: 'https://hub.example.com/files/a', mediaType: 'audio/mpeg' } }));
  expect(server.messages[0]).toMatchObject({ kind: 'audio', content: 'https://hub.example.com/files/a' });
});

test('nobody that Z-API knows, and templates, are refused without a call', async () => {
  expect(await send(say('Olá', { recipient: [{ kind: 'bsuid', value: 'US.1' }] }))).toMatchObject({
    code: 'NO_ADDRESS',
  });
  const content = { kind: 'template' as const, name: 't', language: 'en', parameters: [] };
  expect(await send(say('Olá', { content }))).toMatchObject({ kind: 'refused', code: 'NO_TEMPLATES' });
  expect(server.refused).toEqual([]);
});

describe('what is refused', () => {
  test('by a wrong token, which is not in the reason', async () => {
    account = { ...account, credentials: { ...account.credentials, clientToken: 'wrong-client-token' } };
    const outcome = await send(say('Olá'));
    expect(outcome).toMatchObject({ kind: 'refused', problem: 'TOKEN_EXPIRED', message: 'Client-Token … not allowed' });
  });

  test('by a wrong instance or token of the instance', async () => {
    account = { ...account, credentials: { ...account.credentials, instanceToken: 'a/../b' } };
    expect(await send(say('Olá'))).toMatchObject({ kind: 'refused', problem: 'TOKEN_EXPIRED' });
  });

  test('without a phone that is connected', async () => {
    server.state = { connected: false, smartphoneConnected: false, error: 'You are not connected.' };
    expect(await send(say('Olá'))).toMatchObject({ kind: 'refused', problem: 'DISCONNECTED' });
  });

  test('by what the message is', async () => {
    const outcome = await send(say(''));
    expect(outcome).toEqual({ kind: 'refused', code: 'HTTP_400', message: 'message is required' });
  });

  test('with a status of success', async () => {
    server.fault = { status: 200, body: { error: 'Phone number does not exist' } };
    expect(await send(say('Olá'))).toMatchObject({ kind: 'refused', message: 'Phone number does not exist' });
  });
});

describe('what may pass', () => {
  test.each([429, 500, 503])('HTTP %i is thrown', async (status) => {
    server.fault = { status };
    expect((await failureOf(say('Olá'))).isUnconfirmed).toBe(false);
  });

  test('a server that is not there: nothing was sent', async () => {
    await server.close();
    expect(await failureOf(say('Olá'))).toMatchObject({ message: 'Z-API cannot be reached.', isUnconfirmed: false });
  });

  test('an answer that never comes: it may have been sent', async () => {
    server.fault = { hangUpAfter: true };
    const message = 'Z-API closed the connection before it answered.';
    expect(await failureOf(say('Olá'))).toMatchObject({ message, isUnconfirmed: true });
    expect(server.messages).toHaveLength(1);
  });
});

describe('a file', () => {
  const mediaAt = (reference: string) => ({ reference, mediaType: 'audio/ogg', filename: null });

  test('is fetched from its address without any credential', async () => {
    const bytes = randomBytes(500);
    server.files.set('a.ogg', { bytes, mediaType: 'application/octet-stream' });
    const fetched = await provider.fetchMedia(account, mediaAt(`${server.baseUrl}/files/a.ogg`), signal);
    expect(fetched).toEqual({ bytes, mediaType: 'audio/ogg' });
    expect(JSON.stringify(server.fileHeaders)).not.toContain(server.clientToken);
  });

  test('at an address of the internal network is not fetched', async () => {
    const other = await startZApiServer();
    other.files.set('a.ogg', { bytes: Buffer.from('x'), mediaType: 'audio/ogg' });
    for (const address of [`${other.baseUrl}/files/a.ogg`, 'http://169.254.169.254/latest', 'file:///etc/passwd']) {
      await expect(provider.fetchMedia(account, mediaAt(address), signal)).rejects.toThrow(
        'The file is at an address that may not be called.',
      );
    }
    expect(other.fileHeaders).toEqual([]);
    await other.close();
  });

  test('that is gone or too large', async () => {
    await expect(provider.fetchMedia(account, mediaAt(`${server.baseUrl}/files/no`), signal)).rejects.toThrow(
      'HTTP 404',
    );
    server.files.set('big', { bytes: Buffer.alloc(21 * 1024 * 1024), mediaType: 'audio/ogg' });
    const big = provider.fetchMedia(account, mediaAt(`${server.baseUrl}/files/big`), signal);
    await expect(big).rejects.toThrow('The file is larger than 20 MiB.');
  });
});

describe('health', () => {
  test.each([
    [{ connected: true, smartphoneConnected: true, error: 'You are already connected.' }, null],
    [{ connected: false, smartphoneConnected: false, error: 'You are not connected.' }, 'You are not connected.'],
    [{ connected: true, smartphoneConnected: false, error: '' }, 'The phone has no connection to the internet.'],
  ])('%j', async (state, message) => {
    server.state = state;
    const problem = message === null ? null : { code: 'DISCONNECTED', message };
    expect(await provider.checkHealth(account, signal)).toEqual(problem);
  });

  test('of a wrong token, and one that cannot be asked', async () => {
    account = { ...account, credentials: { ...account.credentials, clientToken: 'wrong-client-token' } };
    expect(await provider.checkHealth(account, signal)).toMatchObject({ code: 'TOKEN_EXPIRED' });
    server.fault = { status: 500 };
    await expect(provider.checkHealth(account, signal)).rejects.toThrow(SendFailed);
  });
});
