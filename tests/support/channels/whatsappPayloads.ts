/*
 * Webhooks of the Cloud API in their documented forms, with values of our own. The forms are those of
 * developers.facebook.com/documentation/business-messaging/whatsapp: webhooks/reference/messages/* (June 2026), …/smb_message_echoes
 * (October 2025), …/account_update, and business-scoped-user-ids (March 2026).
 */

export const PHONE_NUMBER_ID = '106540352242922';
export const BUSINESS_ID = '102290129340398';
export const PERSON = '16505551234';
export const BSUID = 'US.13491208655302741918';
/** When the messages below were sent. */
export const SENT_AT = new Date('2026-03-02T10:00:00.000Z');
export const TIMESTAMP = String(SENT_AT.getTime() / 1000);

type Value = Record<string, unknown>;

/** A POST about changes of phone numbers: each is `{field, value}`. */
export function post(changes: readonly { field: string; value: Value }[], businessId = BUSINESS_ID): Value {
  return { object: 'whatsapp_business_account', entry: [{ id: businessId, changes }] };
}

/** A change of the field `messages` of one phone number. */
export function change(value: Value, phoneNumberId = PHONE_NUMBER_ID): { field: string; value: Value } {
  return {
    field: 'messages',
    value: {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
      ...value,
    },
  };
}

/** The contact of a person with a number. Since April 2026 it has the business-scoped id as well. */
export const contact = (extra: Value = {}): Value => ({ profile: { name: 'Sheena Nelson' }, wa_id: PERSON, ...extra });

/** A message of a person with a number. */
export function message(type: string, content: unknown, extra: Value = {}): Value {
  return { from: PERSON, id: `wamid.${type}`, timestamp: TIMESTAMP, type, [type]: content, ...extra };
}

/** A POST with one message. */
export function messagePost(type: string, content: unknown, extra: Value = {}): Value {
  return post([change({ contacts: [contact()], messages: [message(type, content, extra)] })]);
}

/** A POST with a text of a person, named in one of the ways of 2026. */
export function textPost(
  text: string,
  who: 'number' | 'both' | 'bsuid' | 'bsuid-only',
  id = `wamid.${text}`,
  timestamp = TIMESTAMP,
): Value {
  const base = { id, timestamp, type: 'text', text: { body: text } };
  const name = { profile: { name: 'Sheena Nelson', username: 'sheena' } };
  switch (who) {
    case 'number':
      return post([change({ contacts: [contact()], messages: [{ from: PERSON, ...base }] })]);
    case 'both':
      return post([
        change({
          contacts: [contact({ user_id: BSUID })],
          messages: [{ from: PERSON, from_user_id: BSUID, ...base }],
        }),
      ]);
    case 'bsuid':
      return post([change({ contacts: [{ ...name, user_id: BSUID }], messages: [{ from_user_id: BSUID, ...base }] })]);
    // Neither `from` nor `from_user_id`: only the contact names the person.
    case 'bsuid-only':
      return post([change({ contacts: [{ ...name, user_id: BSUID }], messages: [base] })]);
  }
}

/** A status of a message that we sent. */
export function statusPost(id: string, status: string, extra: Value = {}): Value {
  const base = { id, status, timestamp: TIMESTAMP, recipient_id: PERSON, recipient_user_id: BSUID };
  return post([change({ statuses: [{ ...base, ...extra }] })]);
}

/** What somebody wrote in the WhatsApp Business app of the number. */
export function echoPost(
  text: string,
  to: Value = { to: PERSON },
  id = `wamid.echo.${text}`,
  timestamp = TIMESTAMP,
): Value {
  const echo = { from: '15550783881', ...to, id, timestamp, type: 'text', text: { body: text } };
  return post([{ ...change({ message_echoes: [echo] }), field: 'smb_message_echoes' }]);
}

const MEDIA = { mime_type: 'image/jpeg', sha256: 'hash', id: '2754859441498128' };

/** Every documented kind of webhook. */
export const WHATSAPP_WEBHOOKS: Readonly<Record<string, Value>> = {
  text: messagePost('text', { body: 'Does it come in another colour?' }),
  reply: messagePost('text', { body: 'That one.' }, { context: { from: '15550783881', id: 'wamid.earlier' } }),
  image: messagePost('image', { ...MEDIA, caption: 'The broken one', url: 'https://lookaside.fbsbx.com/x' }),
  video: messagePost('video', { ...MEDIA, mime_type: 'video/mp4' }),
  voice: messagePost('audio', { ...MEDIA, mime_type: 'audio/ogg; codecs=opus', voice: true }),
  document: messagePost('document', { ...MEDIA, mime_type: 'application/pdf', filename: 'invoice.pdf' }),
  sticker: messagePost('sticker', { ...MEDIA, mime_type: 'image/webp', animated: false }),
  location: messagePost('location', { latitude: 44.53, longitude: -121.07, name: 'Office', address: '1 Main St' }),
  contacts: messagePost('contacts', [
    { name: { formatted_name: 'Barbara Johnson' }, phones: [{ phone: '+1 650 555 9876', type: 'HOME' }] },
  ]),
  buttonReply: messagePost('interactive', { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes, please' } }),
  listReply: messagePost('interactive', {
    type: 'list_reply',
    list_reply: { id: 'express', title: 'Express', description: 'Next day' },
  }),
  form: messagePost('interactive', {
    type: 'nfm_reply',
    nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"size":"M"}' },
  }),
  button: messagePost('button', { payload: 'UNSUBSCRIBE', text: 'Unsubscribe' }),
  order: messagePost('order', {
    catalog_id: '1',
    text: 'By Friday, please',
    product_items: [{ product_retailer_id: 'sku-1', quantity: 2, item_price: 30, currency: 'USD' }],
  }),
  reaction: messagePost('reaction', { message_id: 'wamid.earlier', emoji: '👍' }),
  reactionRemoved: messagePost('reaction', { message_id: 'wamid.earlier' }),
  edit: messagePost('edit', {
    original_message_id: 'wamid.earlier',
    message: { type: 'text', text: { body: 'Does it come in blue?' } },
  }),
  revoke: messagePost('revoke', { original_message_id: 'wamid.earlier' }),
  // System messages have no contacts.
  changedNumber: post([
    change({
      messages: [
        message('system', {
          body: 'User Sheena Nelson changed from 16505551234 to 12195555358',
          wa_id: '12195555358',
          type: 'user_changed_number',
        }),
      ],
    }),
  ]),
  changedIdentity: post([
    change({ messages: [message('system', { body: 'New key', type: 'customer_identity_changed' })] }),
  ]),
  unsupported: messagePost(
    'unsupported',
    { type: 'poll_creation' },
    {
      errors: [
        {
          code: 131051,
          title: 'Message type unknown',
          error_data: { details: 'Message type is currently not supported.' },
        },
      ],
    },
  ),
  welcome: messagePost('request_welcome', undefined),
  unknownType: messagePost('hologram', { body: 'x' }),
  group: messagePost('text', { body: 'Hi all' }, { group_id: 'Y2FwaV9ncm91cDox' }),
  sent: statusPost('wamid.out', 'sent', { biz_opaque_callback_data: 'delivery-1' }),
  failed: statusPost('wamid.out', 'failed', {
    errors: [
      {
        code: 131047,
        title: 'Re-engagement message',
        error_data: { details: 'More than 24 hours have passed since the recipient last replied.' },
      },
    ],
  }),
  banned: statusPost('wamid.out', 'failed', {
    errors: [{ code: 131031, title: 'Business Account locked', message: 'Business Account locked' }],
  }),
  played: statusPost('wamid.out', 'played'),
  echo: echoPost('I will call you.'),
  echoOfUserId: echoPost('I will call you.', { to_user_id: BSUID }),
  echoRevoked: post([
    {
      ...change({
        message_echoes: [
          {
            from: '15550783881',
            to: PERSON,
            id: 'wamid.e2',
            timestamp: TIMESTAMP,
            type: 'revoke',
            revoke: { original_message_id: 'wamid.e1' },
          },
        ],
      }),
      field: 'smb_message_echoes',
    },
  ]),
  history: post([{ ...change({ history: [{ threads: [] }] }), field: 'history' }]),
  disabled: post([
    {
      field: 'account_update',
      value: {
        event: 'DISABLED_UPDATE',
        ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: '2026-03-02' },
      },
    },
  ]),
  reinstated: post([
    { field: 'account_update', value: { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } } },
  ]),
  quality: post([
    {
      field: 'phone_number_quality_update',
      value: { display_phone_number: '15550783881', event: 'FLAGGED', current_limit: 'TIER_1K' },
    },
  ]),
  accountError: post([change({ errors: [{ code: 190, title: 'Access token has expired' }] })]),
};
