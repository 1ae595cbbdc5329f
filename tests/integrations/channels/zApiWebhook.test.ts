import type { InboundEvent } from '../../../integrations/channels/provider.ts';
import { channelSettingsFromEnv } from '../../../integrations/channels/settings.ts';
import { ZApiProvider } from '../../../integrations/channels/zApi/zApi.ts';
import { postOf } from '../../support/channels/accounts.ts';
import {
  INSTANCE_ID,
  LID,
  MOMENT,
  received,
  ZAPI_PERSON,
  ZAPI_WEBHOOKS,
  zApiEcho,
  zApiStatus,
  zApiText,
} from '../../support/channels/zApiPayloads.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const SENT_AT = new Date(MOMENT).toISOString();
const account = { workspaceId: 'w', connectionId: 'c', config: { instanceId: INSTANCE_ID }, credentials: {} };
const provider = new ZApiProvider({
  ...channelSettingsFromEnv({}),
  allowPrivateNetwork: false,
  clock: { now: () => NOW },
});

function eventsOf(payload: unknown): InboundEvent[] {
  const answer = provider.receive(account, postOf(JSON.stringify(payload)));
  if (answer.kind !== 'events') throw new Error(JSON.stringify(answer));
  expect(answer.events.every((each) => each.account === null)).toBe(true);
  return answer.events.map(({ event }) => event);
}
const eventOf = (payload: unknown) => eventsOf(payload)[0];

test.each(['{', '', 'null', '[]', '7', '{}', '{"type":[]}'])('%j is refused', (body) => {
  expect(provider.receive(account, postOf(body))).toMatchObject({ kind: 'refused', status: 400 });
});

test('a GET is refused', () => {
  const request = { ...postOf('{}'), method: 'GET' as const };
  expect(provider.receive(account, request)).toMatchObject({ kind: 'refused', status: 400 });
});

describe('what a person says', () => {
  const number = { kind: 'phone', value: ZAPI_PERSON };
  const lid = { kind: 'lid', value: LID };

  test('a text, with everything that names the person', () => {
    expect(eventsOf(ZAPI_WEBHOOKS.text)).toEqual([
      {
        kind: 'message',
        providerMessageId: 'ID-Bom dia!',
        identities: [number, lid],
        profileName: 'Ana Souza',
        text: 'Bom dia!',
        media: [],
        sentAt: SENT_AT,
      },
    ]);
  });

  test.each([
    ['phone', [number]],
    ['both', [number, lid]],
    ['lid', [lid]],
  ] as const)('named by %s', (who, identities) => {
    expect(eventOf(zApiText('Oi', who))).toMatchObject({ kind: 'message', identities });
  });

  test('a message that says nothing is dropped', () => {
    expect(eventOf(received({ text: { message: '' } }))).toMatchObject({ kind: 'ignored' });
  });

  test('only the chat has an address', () => {
    expect(eventOf(received({ text: { message: 'Oi' } }, { phone: '', chatLid: LID }))).toMatchObject({
      identities: [lid],
    });
    expect(eventOf(received({ text: { message: 'Oi' } }, { phone: null }))).toMatchObject({ kind: 'ignored' });
  });

  test.each([
    ['statusReply', 'Lindo!'],
    ['location', '[Location: Av. Brasil, 1; -23.4, -51.9]'],
    ['contact', '[Contact: Cesar, +55 44 91111-1111]'],
    ['button', 'Ótimo'],
    ['list', 'Plano anual'],
    ['order', '[Order: 2 × Camisa]\nPara hoje'],
    ['poll', '[Poll: Qual? (A, B)]'],
    ['vote', '[Vote: B]'],
  ])('%s', (name, text) => {
    expect(eventOf(ZAPI_WEBHOOKS[name])).toMatchObject({ kind: 'message', text, media: [] });
  });

  test.each([
    ['image', 'Olha', { reference: 'https://files.example.com/a.jpeg', mediaType: 'image/jpeg', filename: null }],
    ['audio', '', { reference: 'https://files.example.com/a.ogg', mediaType: 'audio/ogg; codecs=opus' }],
    ['video', '', { mediaType: 'video/mp4' }],
    ['document', '', { mediaType: 'application/pdf', filename: 'nota.pdf' }],
    ['sticker', '', { mediaType: 'image/webp' }],
  ])('%s, as a file', (name, text, file) => {
    expect(eventOf(ZAPI_WEBHOOKS[name])).toMatchObject({ kind: 'message', text, media: [file] });
  });

  test.each([
    ['reaction', 'The person reacted to a message with ❤️'],
    ['edit', 'The person edited a message. It now says: Boa tarde!'],
    ['revoke', 'The person deleted a message.'],
    ['missedCall', 'The person called, and nobody answered.'],
  ])('%s is noted', (name, note) => {
    expect(eventOf(ZAPI_WEBHOOKS[name])).toMatchObject({ kind: 'note', note, sentAt: SENT_AT });
  });

  test('each edit of a message is a note of its own, and comes once however often it is delivered', () => {
    const edit = (message: string) => eventOf(received({ text: { message } }, { isEdit: true }));
    const ids = [edit('One'), edit('Two'), edit('Two')].map(
      (event) => event && 'providerMessageId' in event && event.providerMessageId,
    );
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain('A20DA9C0183A2D35A260');
  });

  test.each([
    'encrypted',
    'group',
    'newsletter',
    'broadcast',
    'pin',
    'toItself',
    'presence',
    'otherInstance',
    'readByMe',
  ])('%s is named and dropped', (name) => {
    expect(eventsOf(ZAPI_WEBHOOKS[name]).map(({ kind }) => kind)).toEqual(['ignored']);
  });

  test('a message that is still encrypted leaves its id free for the one that follows', () => {
    expect(eventOf(ZAPI_WEBHOOKS.waiting)).toMatchObject({ kind: 'ignored', providerMessageId: null });
  });
});

describe('what the number itself sends', () => {
  test('on the phone is an echo; the sender is not the person', () => {
    const echo = zApiEcho('Já te ligo.', {
      chatLid: LID,
      senderLid: '999999999@lid',
      participantPhone: '554488888888',
    });
    expect(eventsOf(echo)).toEqual([
      {
        kind: 'echo',
        providerMessageId: 'ECHO-Já te ligo.',
        identities: [
          { kind: 'phone', value: ZAPI_PERSON },
          { kind: 'lid', value: LID },
        ],
        text: 'Já te ligo.',
        sentAt: SENT_AT,
      },
    ]);
  });

  test('by the API is dropped', () => {
    expect(eventOf(ZAPI_WEBHOOKS.ownByApi)).toMatchObject({ kind: 'ignored' });
  });
});

describe('statuses and health', () => {
  test('each id of a status is one', () => {
    expect(eventsOf(ZAPI_WEBHOOKS.sent)).toMatchObject([
      { kind: 'status', providerMessageId: 'M1', status: 'sent', at: SENT_AT },
      { kind: 'status', providerMessageId: 'M2', status: 'sent' },
    ]);
    expect(eventsOf(ZAPI_WEBHOOKS.read)).toMatchObject([{ status: 'read' }]);
  });

  test.each(['constructor', '__proto__', 'READ-SELF', ''])('a status %j is named and dropped', (status) => {
    expect(eventsOf(zApiStatus(['M1'], status)).map(({ kind }) => kind)).toEqual(['ignored']);
  });

  test('a delivery, and one that failed', () => {
    expect(eventOf(ZAPI_WEBHOOKS.delivered)).toMatchObject({ kind: 'status', providerMessageId: 'M1', status: 'sent' });
    expect(eventOf(ZAPI_WEBHOOKS.notDelivered)).toMatchObject({
      status: 'failed',
      errorCode: 'NOT_DELIVERED',
      errorMessage: 'Phone number does not exist',
    });
  });

  test('the phone is gone, and is back', () => {
    expect(eventOf(ZAPI_WEBHOOKS.disconnected)).toEqual({
      kind: 'health',
      problem: { code: 'DISCONNECTED', message: 'Device has been disconnected' },
    });
    expect(eventOf(ZAPI_WEBHOOKS.connected)).toEqual({ kind: 'health', problem: null });
  });
});

test.each([
  [MOMENT, SENT_AT],
  [MOMENT / 1000, SENT_AT],
  [26_151_515_154, NOW.toISOString()],
  [MOMENT + 86_400_000, NOW.toISOString()],
  [null, NOW.toISOString()],
])('the time %j is %s', (momment, sentAt) => {
  expect(eventOf(received({ text: { message: 'Oi' } }, { momment }))).toMatchObject({ sentAt });
});
