import {
  asId,
  asLine,
  asList,
  asMediaType,
  asName,
  asObject,
  asSaid,
  asTime,
  boundedText,
  type Payload,
} from '../payload.ts';
import type { ChannelIdentity, InboundEvent, InboundMedia } from '../provider.ts';

/*
 * The messages of the Cloud API's webhooks, by their documented types
 * (developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages, June 2026).
 */

/** Types whose object names a file by its id. */
const MEDIA_TYPES = new Set(['image', 'video', 'audio', 'voice', 'document', 'sticker']);
/** Entries of a list (contacts, products) that are written out. */
const MAX_ENTRIES = 20;

/** Whose message it is, read from the message and its change. */
export interface MessageFrame {
  identities: ChannelIdentity[];
  profileName: string | null;
  now: Date;
}

type Said = { text: string; media: InboundMedia[] };

/** What a message of a person says, as an event. Kinds that nobody knows are named and dropped. */
export function messageEvent(message: Payload, { identities, profileName, now }: MessageFrame): InboundEvent {
  const id = asId(message.id);
  if (id === null) return ignored(null, 'A message without an id.');
  if ((message.group_id ?? null) !== null) return ignored(id, 'A message in a group.');
  const type = asLine(message.type, 40);
  if (type === 'request_welcome') return ignored(id, 'A person opened the chat for the first time.');
  if (identities.length === 0) return ignored(id, 'A message that names nobody.');
  const sentAt = asTime(message.timestamp, now);
  const note = noteOf(type, message);
  if (note !== undefined) {
    return note === null
      ? ignored(id, `A message of the type ${type}.`)
      : { kind: 'note', providerMessageId: `${id}#${type}`, identities, note: boundedText(note), sentAt };
  }
  const said = saidIn(type, message);
  if (said === null) return ignored(id, `A message of the unknown type ${type || '(none)'}.`);
  if (said.text === '' && said.media.length === 0) return ignored(id, `An empty message of the type ${type}.`);
  return { kind: 'message', providerMessageId: id, identities, profileName, ...said, sentAt };
}

/** What somebody wrote on the phone of the business; text that stands for files, too. */
export function echoEvent(echo: Payload, identities: ChannelIdentity[], now: Date): InboundEvent {
  const id = asId(echo.id);
  if (id === null) return ignored(null, 'An echo without an id.');
  if (identities.length === 0) return ignored(id, 'An echo that names nobody.');
  const type = asLine(echo.type, 40);
  const sentAt = asTime(echo.timestamp, now);
  if (type === 'revoke' || type === 'edit') {
    const said = type === 'edit' ? editedText(echo) : '';
    const what = type === 'edit' ? `edited a message. It now says: ${said}` : 'deleted a message.';
    const note = boundedText(`Somebody of the business ${what}`);
    return { kind: 'note', providerMessageId: `${id}#${type}`, identities, note, sentAt };
  }
  if (type === 'reaction') return ignored(id, 'A reaction of the business.');
  const said = saidIn(type, echo);
  const files = said?.media.length ? `[${type}] ` : '';
  const text = `${files}${said?.text ?? `[${type || 'message'}]`}`.trim();
  return { kind: 'echo', providerMessageId: id, identities, text: boundedText(text), sentAt };
}

/** A note for the history; null: named and dropped; undefined: the type is said by a person. */
function noteOf(type: string, message: Payload): string | null | undefined {
  switch (type) {
    case 'reaction': {
      const emoji = asLine(asObject(message.reaction).emoji, 20);
      return emoji === '' ? 'The person took back a reaction.' : `The person reacted to a message with ${emoji}`;
    }
    case 'edit':
      return `The person edited a message. It now says: ${editedText(message)}`;
    case 'revoke':
      return 'The person deleted a message.';
    case 'system':
      return asObject(message.system).type === 'user_changed_number' ||
        asObject(message.system).type === 'user_changed_user_id'
        ? 'The person changed the number of the phone.'
        : null;
    case 'unsupported':
    case 'unknown':
    case 'errors': {
      const kind = asLine(asObject(message.unsupported).type, 40);
      const error = asObject(asList(message.errors)[0]);
      const why = asLine(asObject(error.error_data).details, 200) || asLine(error.title, 200);
      const what = [kind, why].filter(Boolean).join(': ');
      return `The person sent something that WhatsApp does not hand over${what ? ` (${what})` : ''}.`;
    }
    default:
      return undefined;
  }
}

function editedText(message: Payload): string {
  const edited = asObject(asObject(message.edit).message);
  const said = saidIn(asLine(edited.type, 40), edited);
  return said?.text || '(no text)';
}

/** What a message says; null for a type that is not known. */
function saidIn(type: string, message: Payload): Said | null {
  const content = asObject(message[type]);
  if (MEDIA_TYPES.has(type)) return mediaIn(type, content);
  const text = textIn(type, message, content);
  return text === null ? null : { text: boundedText(text), media: [] };
}

function mediaIn(type: string, content: Payload): Said {
  const text = boundedText(asSaid(content.caption));
  const reference = asId(content.id);
  if (reference === null) return { text: text || `[${type} that cannot be fetched]`, media: [] };
  const filename = asName(content.filename);
  return { text, media: [{ reference, mediaType: asMediaType(content.mime_type), filename }] };
}

function textIn(type: string, message: Payload, content: Payload): string | null {
  switch (type) {
    case 'text':
      return asSaid(content.body);
    case 'button':
      return asSaid(content.text) || asSaid(content.payload);
    case 'interactive':
      return interactiveText(content);
    case 'location': {
      const place = [asLine(content.name), asLine(content.address), asLine(content.url)].filter(Boolean);
      return `[Location: ${[...place, `${asLine(content.latitude, 30)}, ${asLine(content.longitude, 30)}`].join('; ')}]`;
    }
    case 'contacts':
      return asList(message.contacts).slice(0, MAX_ENTRIES).map(contactText).join('\n') || '[Contact]';
    case 'order':
      return orderText(content);
    default:
      return null;
  }
}

function interactiveText(content: Payload): string | null {
  const button = asObject(content.button_reply);
  const row = asObject(content.list_reply);
  const form = asObject(content.nfm_reply);
  switch (content.type) {
    case 'button_reply':
      return asSaid(button.title) || asSaid(button.id);
    case 'list_reply':
      return [asSaid(row.title) || asSaid(row.id), asSaid(row.description)].filter(Boolean).join('\n');
    case 'nfm_reply':
      return `[Form: ${asSaid(form.response_json) || asSaid(form.body)}]`;
    default:
      return null;
  }
}

function contactText(value: unknown): string {
  const contact = asObject(value);
  const name = asLine(asObject(contact.name).formatted_name) || asLine(asObject(contact.name).first_name);
  const list = (entries: unknown, field: string) =>
    asList(entries)
      .slice(0, MAX_ENTRIES)
      .map((each) => asLine(asObject(each)[field]));
  const details = [name, ...list(contact.phones, 'phone'), ...list(contact.emails, 'email')].filter(Boolean);
  return `[Contact: ${details.join(', ')}]`;
}

function orderText(content: Payload): string {
  const items = asList(content.product_items)
    .slice(0, MAX_ENTRIES)
    .map((value) => {
      const item = asObject(value);
      const price = [asLine(item.item_price, 30), asLine(item.currency, 10)].filter(Boolean).join(' ');
      const count = asLine(item.quantity, 20) || '1';
      return `${count} × ${asLine(item.product_retailer_id)}${price ? ` at ${price}` : ''}`;
    });
  return [`[Order: ${items.join('; ')}]`, asSaid(content.text)].filter(Boolean).join('\n');
}

/** An event that is named and dropped. */
export function ignored(providerMessageId: string | null, reason: string): InboundEvent {
  return { kind: 'ignored', providerMessageId, reason };
}
