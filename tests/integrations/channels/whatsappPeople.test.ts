import {
  BSUID,
  change,
  contact,
  message,
  PERSON,
  post,
  statusPost,
  TIMESTAMP,
  textPost,
  WHATSAPP_WEBHOOKS,
} from '../../support/channels/whatsappPayloads.ts';
import { eventOf, eventsOf } from '../../support/channels/whatsappReceiver.ts';

describe('who a person is', () => {
  const number = { kind: 'wa_id', value: PERSON };
  const user = { kind: 'bsuid', value: BSUID };

  test.each([
    ['number', [number]],
    ['both', [number, user]],
    ['bsuid', [user]],
    ['bsuid-only', [user]],
  ] as const)('named by %s', (who, identities) => {
    expect(eventOf(textPost('Hi', who))).toMatchObject({ kind: 'message', identities, profileName: 'Sheena Nelson' });
  });

  test('a business-scoped id in a field for numbers is no number', () => {
    const webhook = post([
      change({ contacts: [{ wa_id: BSUID }], messages: [message('text', { body: 'Hi' }, { from: BSUID })] }),
    ]);
    expect(eventOf(webhook)).toMatchObject({ identities: [user] });
  });

  test('the id of the owner of several businesses is one as well', () => {
    const parent = 'US.ENT.11815799212886844830';
    const webhook = post([
      change({
        contacts: [contact({ user_id: BSUID, parent_user_id: parent })],
        messages: [message('text', { body: 'Hi' }, { from_user_id: BSUID, from_parent_user_id: parent })],
      }),
    ]);
    expect(eventOf(webhook)).toMatchObject({ identities: [number, user, { kind: 'bsuid', value: parent }] });
  });

  test('a new number and the old one are one person, the new one first', () => {
    expect(eventOf(WHATSAPP_WEBHOOKS.changedNumber)).toMatchObject({
      identities: [{ kind: 'wa_id', value: '12195555358' }, number],
    });
  });

  test('a delivery shows both names of whoever got it', () => {
    expect(eventOf(statusPost('wamid.out', 'delivered'))).toMatchObject({ identities: [number, user] });
    const byContact = post([
      change({
        contacts: [contact({ user_id: BSUID })],
        statuses: [{ id: 'wamid.out', status: 'delivered', timestamp: TIMESTAMP, recipient_id: PERSON }],
      }),
    ]);
    expect(eventOf(byContact)).toMatchObject({ identities: [number, user] });
    expect(eventOf(statusPost('wamid.out', 'delivered', { recipient_user_id: undefined }))).not.toHaveProperty(
      'identities',
    );
  });

  test('several people in one change are not mixed up', () => {
    const other = { profile: { name: 'Pablo' }, wa_id: '16505550000', user_id: 'US.999' };
    const webhook = post([
      change({
        contacts: [contact({ user_id: BSUID }), other],
        messages: [
          message('text', { body: 'From Pablo' }, { from: undefined, from_user_id: 'US.999', id: 'wamid.1' }),
          message('text', { body: 'From Sheena' }, { id: 'wamid.2' }),
          message('text', { body: 'From nobody' }, { from: undefined, id: 'wamid.3' }),
        ],
      }),
    ]);
    expect(eventsOf(webhook).map(({ event }) => event)).toMatchObject([
      { identities: [{ value: '16505550000' }, { value: 'US.999' }], profileName: 'Pablo' },
      { identities: [number, user], profileName: 'Sheena Nelson' },
      { kind: 'ignored', providerMessageId: 'wamid.3' },
    ]);
  });
});
