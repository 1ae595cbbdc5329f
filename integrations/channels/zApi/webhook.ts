import { createHash } from 'node:crypto';
import {
  asId,
  asLine,
  asList,
  asName,
  asObject,
  asTime,
  boundedText,
  distinctIdentities,
  type Payload,
  parseJson,
} from '../payload.ts';
import type { ChannelAccount, ChannelIdentity, InboundEvent, WebhookAnswer, WebhookRequest } from '../provider.ts';
import { isKnownNotification, saidInPayload } from './content.ts';

/*
 * The webhooks of Z-API (developer.z-api.io/webhooks). They have no signature: the address they come to is a secret of 160 bits, which
 * the caller has checked. Each POST has one event, named by `type`.
 */

const DIGITS = /^\+?(\d{5,20})$/;
const LID = /^\d{5,30}@lid$/i;
const STATUSES: ReadonlyMap<string, 'sent' | 'delivered' | 'read'> = new Map([
  ['SENT', 'sent'],
  ['RECEIVED', 'delivered'],
  ['READ', 'read'],
  ['PLAYED', 'read'],
]);
/** Ids in one status; more are no statuses of messages that we sent. */
const MAX_STATUS_IDS = 500;

/** Reads a webhook. Never throws. `now` takes the place of times that cannot be. */
export function receiveZApiWebhook(account: ChannelAccount, request: WebhookRequest, now: Date): WebhookAnswer {
  if (request.method !== 'POST') return { kind: 'refused', status: 400, reason: 'Z-API sends POST requests.' };
  const body = parseJson(request.body);
  const payload = asObject(body);
  const type = asLine(payload.type, 60);
  if (body === undefined || type === '') {
    return { kind: 'refused', status: 400, reason: 'The body is no webhook of Z-API.' };
  }
  const instance = asId(payload.instanceId);
  const isOther = instance !== null && instance !== account.config.instanceId;
  const events = isOther ? [ignored(null, 'A webhook of another instance.')] : eventsOfType(type, payload, now);
  return { kind: 'events', events: events.map((event) => ({ account: null, event })) };
}

function eventsOfType(type: string, payload: Payload, now: Date): InboundEvent[] {
  // The documents write ReceivedCallback and ReceivedCallBack.
  switch (type.toLowerCase()) {
    case 'receivedcallback':
      return [receivedEvent(payload, now)];
    case 'messagestatuscallback':
      return statusEvents(payload, now);
    case 'deliverycallback':
      return [deliveryEvent(payload, now)];
    case 'disconnectedcallback': {
      const message = asLine(payload.error, 500) || 'The phone was disconnected from Z-API.';
      return [{ kind: 'health', problem: { code: 'DISCONNECTED', message } }];
    }
    case 'connectedcallback': {
      const problem = { code: 'DISCONNECTED' as const, message: 'The phone is not connected to Z-API.' };
      return [{ kind: 'health', problem: payload.connected === false ? problem : null }];
    }
    default:
      return [ignored(null, `A webhook of the type ${type}.`)];
  }
}

/** A message, which may be one from the phone itself or one of ours. */
function receivedEvent(payload: Payload, now: Date): InboundEvent {
  const id = asId(payload.messageId);
  if (id === null) return ignored(null, 'A message without an id.');
  const chat = asLine(payload.phone, 100);
  const outside = outsideOf(payload, chat);
  if (outside !== null) return ignored(id, outside);
  // The content follows in another webhook with the same id.
  if (payload.waitingMessage === true) return ignored(null, 'A message whose content is not here yet.');
  const isOwn = payload.fromMe === true;
  const identities = identitiesIn(payload, isOwn);
  if (identities.length === 0) return ignored(id, 'A message that names nobody.');
  const sentAt = asTime(payload.momment, now);
  const noted = noteOf(payload, isOwn);
  if (noted !== null) {
    // An edit may have the id of the message that it edits, and there may be several: what it says makes it one of its own.
    const digest = createHash('sha256').update(`${sentAt} ${noted.note}`).digest('hex').slice(0, 16);
    const providerMessageId = `${id}#${noted.kind}-${digest}`;
    return { kind: 'note', providerMessageId, identities, note: boundedText(noted.note), sentAt };
  }
  const notification = asLine(payload.notification, 60);
  if (notification !== '') return ignored(id, `A notification: ${notification}.`);
  if (isOwn && payload.fromApi === true) return ignored(id, 'A message that was sent by the API.');
  const said = saidInPayload(payload);
  if (said === null) return ignored(id, 'A message of an unknown kind.');
  const text = boundedText(said.text);
  if (text === '' && said.media.length === 0) return ignored(id, 'An empty message.');
  if (isOwn) {
    const files = said.media.map(({ mediaType }) => `[${mediaType ?? 'file'}]`).join(' ');
    return { kind: 'echo', providerMessageId: id, identities, text: [files, text].filter(Boolean).join(' '), sentAt };
  }
  const profileName = asName(payload.senderName) ?? asName(payload.chatName);
  return { kind: 'message', providerMessageId: id, identities, profileName, text, media: said.media, sentAt };
}

/** Why a message is not of a chat with one person; null when it is. */
function outsideOf(payload: Payload, chat: string): string | null {
  if (payload.isGroup === true || /(-group|@g\.us)$/i.test(chat)) return 'A message in a group.';
  if (payload.isNewsletter === true || /@newsletter$/i.test(chat)) return 'A post of a newsletter.';
  if (payload.broadcast === true || /@broadcast$/i.test(chat)) return 'A broadcast.';
  const own = asLine(payload.connectedPhone, 40);
  return own !== '' && own === chat ? 'A message of the number to itself.' : null;
}

/**
 * The person of the chat. `phone` may hold an address that hides the number (`…@lid`), and is empty where only `chatLid` is known. In a message
 * from the phone itself the sender is the business, so that only the chat counts.
 */
function identitiesIn(payload: Payload, isOwn: boolean): ChannelIdentity[] {
  const sender = isOwn ? [] : [payload.senderLid, payload.participantPhone, payload.participantLid];
  const values = [payload.phone, payload.chatLid, ...sender];
  const identities = distinctIdentities(values.map(zApiIdentity));
  return identities.sort((a, b) => Number(a.kind === 'lid') - Number(b.kind === 'lid'));
}

/** The identity that a value is, if any: a number with its country, or a `@lid` address. */
function zApiIdentity(value: unknown): ChannelIdentity | null {
  const text = asLine(value, 100).replace(/@(s\.whatsapp\.net|c\.us)$/i, '');
  if (LID.test(text)) return { kind: 'lid', value: text.toLowerCase() };
  const digits = DIGITS.exec(text)?.[1];
  return digits === undefined ? null : { kind: 'phone', value: digits };
}

/** What happened to another message; null when this is a message itself. */
function noteOf(payload: Payload, isOwn: boolean): { kind: string; note: string } | null {
  const who = isOwn ? 'Somebody of the business' : 'The person';
  if (payload.reaction !== undefined && payload.reaction !== null && !isOwn) {
    const emoji = asLine(asObject(payload.reaction).value, 20);
    const note = emoji === '' ? 'The person took back a reaction.' : `The person reacted to a message with ${emoji}`;
    return { kind: 'reaction', note };
  }
  const notification = asLine(payload.notification, 60);
  if (notification === 'REVOKE') return { kind: 'revoke', note: `${who} deleted a message.` };
  if (isKnownNotification(notification)) return { kind: 'call', note: 'The person called, and nobody answered.' };
  if (payload.isEdit === true) {
    const text = saidInPayload(payload)?.text || '(no text)';
    return { kind: 'edit', note: `${who} edited a message. It now says: ${text}` };
  }
  return null;
}

/** `ids` are those of several messages. READ_BY_ME is about messages to us. */
function statusEvents(payload: Payload, now: Date): InboundEvent[] {
  const name = asLine(payload.status, 40);
  const status = STATUSES.get(name);
  if (status === undefined || payload.isGroup === true || /-group$/.test(asLine(payload.phone, 100))) {
    return [ignored(null, `A status ${name || '(none)'}.`)];
  }
  const ids = asList(payload.ids).slice(0, MAX_STATUS_IDS).map(asId);
  const events = ids.flatMap((id): InboundEvent[] => {
    if (id === null) return [];
    const at = asTime(payload.momment, now);
    return [
      { kind: 'status', providerMessageId: id, deliveryId: null, status, errorCode: null, errorMessage: null, at },
    ];
  });
  return events.length > 0 ? events : [ignored(null, 'A status without ids.')];
}

/** Z-API handed a message to WhatsApp, or could not. */
function deliveryEvent(payload: Payload, now: Date): InboundEvent {
  const id = asId(payload.messageId) ?? asId(payload.zaapId);
  if (id === null) return ignored(null, 'A delivery without an id.');
  const error = asLine(payload.error, 500);
  return {
    kind: 'status',
    providerMessageId: id,
    deliveryId: null,
    status: error === '' ? 'sent' : 'failed',
    errorCode: error === '' ? null : 'NOT_DELIVERED',
    errorMessage: error || null,
    at: asTime(payload.momment, now),
  };
}

function ignored(providerMessageId: string | null, reason: string): InboundEvent {
  return { kind: 'ignored', providerMessageId, reason };
}
