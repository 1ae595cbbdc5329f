import {
  BSUID,
  BUSINESS_ID,
  change,
  contact,
  message,
  messagePost,
  PERSON,
  PHONE_NUMBER_ID,
  post,
  SENT_AT,
  statusPost,
  TIMESTAMP,
  WHATSAPP_WEBHOOKS,
} from '../../support/channels/whatsappPayloads.ts';
import { eventOf, eventsOf, NOW, receive } from '../../support/channels/whatsappReceiver.ts';

describe('a signed body', () => {
  test.each(['{', '', 'null', '[]', '7'])('%j is refused or drops, and is no fault', (body) => {
    const answer = receive(body);
    if (answer.kind === 'events') expect(answer.events).toMatchObject([{ event: { kind: 'ignored' } }]);
    else expect(answer).toMatchObject({ kind: 'refused', status: 400 });
  });

  test('about something else is dropped with a word', () => {
    expect(eventsOf({ object: 'page', entry: [] })).toMatchObject([{ event: { kind: 'ignored' } }]);
  });
});

describe('what a person says', () => {
  test.each([
    ['text', 'Does it come in another colour?'],
    ['reply', 'That one.'],
    ['location', '[Location: Office; 1 Main St; 44.53, -121.07]'],
    ['contacts', '[Contact: Barbara Johnson, +1 650 555 9876]'],
    ['buttonReply', 'Yes, please'],
    ['listReply', 'Express\nNext day'],
    ['form', '[Form: {"size":"M"}]'],
    ['button', 'Unsubscribe'],
    ['order', '[Order: 2 × sku-1 at 30 USD]\nBy Friday, please'],
  ])('%s', (name, text) => {
    expect(eventsOf(WHATSAPP_WEBHOOKS[name])).toEqual([
      {
        account: PHONE_NUMBER_ID,
        event: {
          kind: 'message',
          providerMessageId: expect.stringMatching(/^wamid\.\w+$/),
          identities: [{ kind: 'wa_id', value: PERSON }],
          profileName: 'Sheena Nelson',
          text,
          media: [],
          sentAt: SENT_AT.toISOString(),
        },
      },
    ]);
  });

  test.each([
    ['image', 'The broken one', { mediaType: 'image/jpeg', filename: null }],
    ['video', '', { mediaType: 'video/mp4', filename: null }],
    ['voice', '', { mediaType: 'audio/ogg; codecs=opus', filename: null }],
    ['document', '', { mediaType: 'application/pdf', filename: 'invoice.pdf' }],
    ['sticker', '', { mediaType: 'image/webp', filename: null }],
  ])('%s, as a file', (name, text, file) => {
    expect(eventOf(WHATSAPP_WEBHOOKS[name])).toMatchObject({
      kind: 'message',
      text,
      media: [{ reference: '2754859441498128', ...file }],
    });
  });

  test.each([
    ['reaction', 'The person reacted to a message with 👍'],
    ['reactionRemoved', 'The person took back a reaction.'],
    ['edit', 'The person edited a message. It now says: Does it come in blue?'],
    ['revoke', 'The person deleted a message.'],
    ['changedNumber', 'The person changed the number of the phone.'],
    [
      'unsupported',
      'The person sent something that WhatsApp does not hand over (poll_creation: Message type is currently not supported.).',
    ],
    ['echoRevoked', 'Somebody of the business deleted a message.'],
  ])('%s is noted', (name, note) => {
    expect(eventOf(WHATSAPP_WEBHOOKS[name])).toMatchObject({ kind: 'note', note, sentAt: SENT_AT.toISOString() });
  });

  test.each(['changedIdentity', 'welcome', 'unknownType', 'group', 'history', 'quality'])(
    '%s is named and dropped',
    (name) => {
      expect(eventsOf(WHATSAPP_WEBHOOKS[name]).map(({ event }) => event.kind)).toEqual(['ignored']);
    },
  );

  test('on the phone of the business is an echo of the other side', () => {
    expect(eventsOf(WHATSAPP_WEBHOOKS.echo)).toEqual([
      {
        account: PHONE_NUMBER_ID,
        event: {
          kind: 'echo',
          providerMessageId: 'wamid.echo.I will call you.',
          identities: [{ kind: 'wa_id', value: PERSON }],
          text: 'I will call you.',
          sentAt: SENT_AT.toISOString(),
        },
      },
    ]);
    expect(eventOf(WHATSAPP_WEBHOOKS.echoOfUserId)).toMatchObject({ identities: [{ kind: 'bsuid', value: BSUID }] });
  });
});

describe('a POST about several numbers', () => {
  test('is taken apart into the events of each, with its statuses', () => {
    const webhook = {
      object: 'whatsapp_business_account',
      entry: [
        {
          id: BUSINESS_ID,
          changes: [change({ contacts: [contact()], messages: [message('text', { body: 'One' }, { id: 'wamid.1' })] })],
        },
        {
          id: '555',
          changes: [
            change({ contacts: [contact()], messages: [message('text', { body: 'Two' }, { id: 'wamid.2' })] }, '222'),
            change({ statuses: [{ id: 'wamid.out', status: 'read', timestamp: TIMESTAMP }] }, '333'),
          ],
        },
      ],
    };
    expect(
      eventsOf(webhook).map(({ account, event }) => [
        account,
        event.kind,
        'providerMessageId' in event && event.providerMessageId,
      ]),
    ).toEqual([
      [PHONE_NUMBER_ID, 'message', 'wamid.1'],
      ['222', 'message', 'wamid.2'],
      ['333', 'status', 'wamid.out'],
    ]);
  });

  test('has an end', () => {
    const statuses = Array.from({ length: 5000 }, (_, index) => ({ id: `wamid.${index}`, status: 'sent' }));
    const events = eventsOf(post([change({ statuses })]));
    expect(events).toHaveLength(2001);
    expect(events.at(-1)).toMatchObject({ event: { kind: 'ignored' } });
  });
});

describe('statuses and health', () => {
  test.each([
    ['sent', { status: 'sent', deliveryId: 'delivery-1', errorCode: null }],
    ['played', { status: 'read', deliveryId: null }],
    [
      'failed',
      {
        status: 'failed',
        errorCode: '131047',
        errorMessage: 'More than 24 hours have passed since the recipient last replied.',
      },
    ],
  ])('%s', (name, expected) => {
    expect(eventsOf(WHATSAPP_WEBHOOKS[name])).toMatchObject([
      {
        account: PHONE_NUMBER_ID,
        event: { kind: 'status', providerMessageId: 'wamid.out', at: SENT_AT.toISOString(), ...expected },
      },
    ]);
  });

  test.each(['constructor', '__proto__', 'toString', 'deleted', ''])('a status %j is named and dropped', (status) => {
    expect(eventsOf(statusPost('wamid.out', status)).map(({ event }) => event.kind)).toEqual(['ignored']);
  });

  test('a ban is told by a failed message, by the account, and ends', () => {
    const ban = { kind: 'health', problem: { code: 'NUMBER_BANNED' } };
    expect(eventsOf(WHATSAPP_WEBHOOKS.banned)).toMatchObject([
      { event: { kind: 'status', status: 'failed', errorCode: '131031' } },
      { account: PHONE_NUMBER_ID, event: ban },
    ]);
    expect(eventsOf(WHATSAPP_WEBHOOKS.disabled)).toMatchObject([{ account: null, event: ban }]);
    expect(eventsOf(WHATSAPP_WEBHOOKS.reinstated)).toMatchObject([{ event: { kind: 'health', problem: null } }]);
    expect(eventsOf(WHATSAPP_WEBHOOKS.accountError)).toMatchObject([
      { event: { kind: 'health', problem: { code: 'TOKEN_EXPIRED' } } },
    ]);
  });

  test('an update of another business account is dropped', () => {
    const [update] = (WHATSAPP_WEBHOOKS.disabled?.entry as { changes: never[] }[]) ?? [];
    expect(eventsOf(post(update?.changes ?? [], '999'))).toMatchObject([{ event: { kind: 'ignored' } }]);
  });
});

test('a message that says nothing is dropped, and one whose group is null is of no group', () => {
  expect(eventOf(messagePost('text', { body: ' ' }))).toMatchObject({ kind: 'ignored' });
  expect(eventOf(messagePost('text', undefined))).toMatchObject({ kind: 'ignored' });
  expect(eventOf(messagePost('text', { body: 'Hi' }, { group_id: null }))).toMatchObject({ kind: 'message' });
});

describe('bounds', () => {
  test('a longer text is cut with a note, and stays well-formed', () => {
    const event = eventOf(messagePost('text', { body: '😀'.repeat(50_000) }));
    if (event?.kind !== 'message') throw new Error(JSON.stringify(event));
    expect(event.text.length).toBeLessThanOrEqual(65_536);
    expect(event.text).toMatch(/The rest is missing\.\]$/);
    expect(event.text.isWellFormed()).toBe(true);
  });

  test('what a database cannot store is taken out', () => {
    const body = JSON.stringify(messagePost('text', { body: 'a?b' })).replace('a?b', 'a\\u0000b\\ud800c');
    expect(eventOf(body)).toMatchObject({ text: 'ab\ufffdc' });
  });

  test.each([
    ['1772445600', '2026-03-02T10:00:00.000Z'],
    [1_772_445_600, '2026-03-02T10:00:00.000Z'],
    [undefined, NOW.toISOString()],
    ['soon', NOW.toISOString()],
    ['99999999999', NOW.toISOString()],
    ['0', NOW.toISOString()],
    [-5, NOW.toISOString()],
    [1e300, NOW.toISOString()],
    // A clock that is ahead by a minute.
    [NOW.getTime() / 1000 + 60, NOW.toISOString()],
    [NOW.getTime() / 1000 + 86_400, NOW.toISOString()],
  ])('the time %j is %s', (timestamp, sentAt) => {
    expect(eventOf(messagePost('text', { body: 'Hi' }, { timestamp }))).toMatchObject({ sentAt });
  });

  test('an id that nobody could store is named and dropped', () => {
    expect(eventOf(messagePost('text', { body: 'Hi' }, { id: 'x'.repeat(300) }))).toMatchObject({ kind: 'ignored' });
    expect(eventOf(messagePost('text', { body: 'Hi' }, { id: undefined }))).toMatchObject({ kind: 'ignored' });
  });
});
