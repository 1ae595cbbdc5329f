/*
 * Webhooks of Z-API in their documented forms, with values of our own (developer.z-api.io/webhooks: on-message-received-examples,
 * on-message-send, on-whatsapp-message-status-changes, on-whatsapp-disconnected, on-webhook-connected; 2026).
 */

export const INSTANCE_ID = 'A20DA9C0183A2D35A260F53F5D2B9244';
export const ZAPI_PERSON = '5544999999999';
export const LID = '81896604192873@lid';
/** When the messages below were sent. */
export const MOMENT = Date.parse('2026-03-02T10:00:00.000Z');

type Value = Record<string, unknown>;

/** A message to the number of the instance. */
export function received(content: Value, extra: Value = {}): Value {
  return {
    isStatusReply: false,
    chatLid: null,
    connectedPhone: '554488888888',
    waitingMessage: false,
    isEdit: false,
    isGroup: false,
    isNewsletter: false,
    instanceId: INSTANCE_ID,
    messageId: 'A20DA9C0183A2D35A260',
    phone: ZAPI_PERSON,
    fromMe: false,
    momment: MOMENT,
    status: 'RECEIVED',
    chatName: 'Ana',
    senderPhoto: null,
    senderName: 'Ana Souza',
    participantPhone: null,
    participantLid: null,
    photo: null,
    broadcast: false,
    type: 'ReceivedCallback',
    fromApi: false,
    ...content,
    ...extra,
  };
}

/** A text of a person, named by number, by both, or by the address that hides the number. */
export function zApiText(message: string, who: 'phone' | 'both' | 'lid', messageId = `ID-${message}`): Value {
  const named = {
    phone: { phone: ZAPI_PERSON },
    both: { phone: ZAPI_PERSON, chatLid: LID, senderLid: LID },
    lid: { phone: LID, chatLid: LID, senderLid: LID },
  }[who];
  return received({ text: { message } }, { ...named, messageId });
}

/** What became of messages that we sent. */
export function zApiStatus(ids: readonly string[], status: string): Value {
  const base = { instanceId: INSTANCE_ID, momment: MOMENT, phoneDevice: 0, phone: ZAPI_PERSON, isGroup: false };
  return { ...base, status, ids, type: 'MessageStatusCallback' };
}

/** What somebody wrote on the phone of the instance. */
export function zApiEcho(message: string, extra: Value = {}): Value {
  return received({ text: { message } }, { fromMe: true, messageId: `ECHO-${message}`, ...extra });
}

/** Every documented kind of webhook. */
export const ZAPI_WEBHOOKS: Readonly<Record<string, Value>> = {
  text: zApiText('Bom dia!', 'both'),
  statusReply: received({ text: { message: 'Lindo!' } }, { isStatusReply: true }),
  image: received({
    image: { mimeType: 'image/jpeg', imageUrl: 'https://files.example.com/a.jpeg', thumbnailUrl: '', caption: 'Olha' },
  }),
  audio: received({ audio: { audioUrl: 'https://files.example.com/a.ogg', mimeType: 'audio/ogg; codecs=opus' } }),
  video: received({ video: { videoUrl: 'https://files.example.com/a.mp4', caption: '', mimeType: 'video/mp4' } }),
  document: received({
    document: {
      documentUrl: 'https://files.example.com/n.pdf',
      mimeType: 'application/pdf',
      title: 'nota',
      pageCount: 1,
      fileName: 'nota.pdf',
    },
  }),
  sticker: received({ sticker: { stickerUrl: 'https://files.example.com/s.webp', mimeType: 'image/webp' } }),
  location: received({ location: { longitude: -51.9, latitude: -23.4, address: 'Av. Brasil, 1', url: '' } }),
  contact: received({
    contact: {
      displayName: 'Cesar',
      vCard: 'BEGIN:VCARD\nVERSION:3.0\nN:;Cesar;;;\nTEL;type=CELL;waid=5544911111111:+55 44 91111-1111\nEND:VCARD',
    },
  }),
  button: received({ buttonsResponseMessage: { buttonId: '1', message: 'Ótimo' } }),
  list: received({ listResponseMessage: { message: 'Plano anual', title: 'Anual', selectedRowId: '2' } }),
  order: received({
    order: {
      itemCount: 1,
      orderId: '422508169684569',
      message: 'Para hoje',
      products: [{ quantity: 2, name: 'Camisa', productId: '53389' }],
    },
  }),
  poll: received({ poll: { question: 'Qual?', options: [{ name: 'A' }, { name: 'B' }] } }),
  vote: received({ pollVote: { pollMessageId: 'X', options: [{ name: 'B' }] } }),
  reaction: received({ reaction: { value: '❤️', time: MOMENT, referencedMessage: { messageId: '3EB0' } } }),
  edit: received({ text: { message: 'Boa tarde!' } }, { isEdit: true }),
  revoke: received({}, { notification: 'REVOKE', notificationParameters: [] }),
  missedCall: received({}, { notification: 'CALL_MISSED_VOICE', notificationParameters: [], callId: 'F44E' }),
  encrypted: received({}, { notification: 'E2E_ENCRYPTED' }),
  waiting: received({}, { waitingMessage: true }),
  group: received({ text: { message: 'Oi' } }, { isGroup: true, phone: '5544999999999-group' }),
  newsletter: received({ text: { message: 'Oi' } }, { isNewsletter: true, phone: '120363166555745933@newsletter' }),
  broadcast: received({ text: { message: 'Oi' } }, { broadcast: true }),
  pin: received({ pinMessage: { action: 'pin', pinDurationInSecs: 604_800 } }),
  echo: zApiEcho('Já te ligo.'),
  ownByApi: zApiEcho('Olá!', { fromApi: true }),
  toItself: zApiEcho('Lembrete', { phone: '554488888888' }),
  sent: zApiStatus(['M1', 'M2'], 'SENT'),
  read: zApiStatus(['M1'], 'READ'),
  readByMe: zApiStatus(['M1'], 'READ_BY_ME'),
  delivered: {
    phone: ZAPI_PERSON,
    zaapId: 'Z1',
    messageId: 'M1',
    type: 'DeliveryCallback',
    instanceId: INSTANCE_ID,
  },
  notDelivered: {
    phone: ZAPI_PERSON,
    zaapId: 'Z1',
    messageId: 'M1',
    error: 'Phone number does not exist',
    type: 'DeliveryCallback',
    instanceId: INSTANCE_ID,
  },
  disconnected: {
    momment: 1_772_445_600,
    error: 'Device has been disconnected',
    disconnected: true,
    type: 'DisconnectedCallback',
    instanceId: INSTANCE_ID,
  },
  connected: {
    type: 'ConnectedCallback',
    connected: true,
    momment: MOMENT,
    instanceId: INSTANCE_ID,
    phone: '554488888888',
  },
  presence: {
    type: 'PresenceChatCallback',
    phone: ZAPI_PERSON,
    status: 'COMPOSING',
    lastSeen: null,
    instanceId: INSTANCE_ID,
  },
  otherInstance: received({ text: { message: 'Oi' } }, { instanceId: 'OTHER' }),
};
