import { asLine, asList, asMediaType, asName, asObject, asSaid, type Payload } from '../payload.ts';
import type { InboundMedia } from '../provider.ts';

/*
 * What a message of Z-API says: one property of the payload, named after the kind of message
 * (developer.z-api.io/webhooks/on-message-received-examples).
 */

/** The property of a kind of file, and the field of its address. */
const FILES: readonly (readonly [string, string])[] = [
  ['image', 'imageUrl'],
  ['audio', 'audioUrl'],
  ['video', 'videoUrl'],
  ['ptv', 'ptvUrl'],
  ['document', 'documentUrl'],
  ['sticker', 'stickerUrl'],
];
/** Entries of a list (products, options, phones) that are written out. */
const MAX_ENTRIES = 20;
/** Longest address of a file. */
const MAX_ADDRESS = 4000;

/** What a message says; null for a kind that is not known. */
export function saidInPayload(payload: Payload): { text: string; media: InboundMedia[] } | null {
  for (const [kind, field] of FILES) {
    if (!isObject(payload[kind])) continue;
    const file = asObject(payload[kind]);
    const caption = asSaid(file.caption);
    const reference = asSaid(file[field]) || asSaid(file.url);
    if (!isFetchable(reference)) return { text: caption || `[${kind} that cannot be fetched]`, media: [] };
    const filename = asName(file.fileName) ?? asName(file.title);
    return { text: caption, media: [{ reference, mediaType: asMediaType(file.mimeType), filename }] };
  }
  const text = textIn(payload);
  return text === null ? null : { text, media: [] };
}

/** Whether a notification is noted: calls that nobody took. The others (encryption, groups, payments) say nothing to an agent. */
export function isKnownNotification(name: string): boolean {
  return name === 'CALL_MISSED_VOICE' || name === 'CALL_MISSED_VIDEO';
}

function textIn(payload: Payload): string | null {
  for (const kind of Object.keys(TEXTS)) {
    if (isObject(payload[kind])) return TEXTS[kind]?.(asObject(payload[kind])) ?? null;
  }
  const contacts = asList(payload.contacts).slice(0, MAX_ENTRIES).map(asObject).map(contactText);
  return contacts.length > 0 ? contacts.join('\n') : null;
}

/** The kinds of messages without a file. */
const TEXTS: Readonly<Record<string, (content: Payload) => string>> = {
  text: ({ message }) => asSaid(message),
  buttonsResponseMessage: ({ message, buttonId }) => asSaid(message) || asSaid(buttonId),
  buttonReply: ({ message, buttonId }) => asSaid(message) || asSaid(buttonId),
  templateButtonReplyMessage: ({ message, selectedId }) => asSaid(message) || asSaid(selectedId),
  // `message` has the title and the description of the row.
  listResponseMessage: ({ message, title, selectedRowId }) => asSaid(message) || asSaid(title) || asSaid(selectedRowId),
  hydratedTemplate: ({ title, message, footer }) => [title, message, footer].map(asSaid).filter(Boolean).join('\n'),
  location: ({ name, address, latitude, longitude }) => {
    const place = [asLine(name), asLine(address), `${asLine(latitude, 30)}, ${asLine(longitude, 30)}`];
    return `[Location: ${place.filter(Boolean).join('; ')}]`;
  },
  contact: (content) => contactText(content),
  order: ({ products, message }) => [`[Order: ${productsText(products)}]`, asSaid(message)].filter(Boolean).join('\n'),
  product: ({ title, retailerId, price, currencyCode }) => {
    const cost = [asLine(price, 30), asLine(currencyCode, 10)].filter(Boolean).join(' ');
    return `[Product: ${[asLine(title), asLine(retailerId), cost].filter(Boolean).join(', ')}]`;
  },
  poll: ({ question, options }) => `[Poll: ${asLine(question)} (${namesIn(options)})]`,
  pollVote: ({ options }) => `[Vote: ${namesIn(options)}]`,
  sendPayment: () => '[Payment]',
  requestPayment: () => '[Request for a payment]',
  reviewAndPay: ({ products }) => `[Order to pay: ${productsText(products)}]`,
  reviewOrder: ({ products }) => `[Order: ${productsText(products)}]`,
};

function contactText({ displayName, phones, vCard }: Payload): string {
  const numbers = asList(phones)
    .slice(0, MAX_ENTRIES)
    .map((each) => asLine(each, 40));
  // Without a list the numbers are in the card.
  const card =
    numbers.length > 0
      ? []
      : [
          ...asSaid(vCard)
            .slice(0, 10_000)
            .matchAll(/^TEL[^:\n]*:([^\n]{1,40})/gm),
        ];
  const found = card.slice(0, MAX_ENTRIES).map(([, number]) => asLine(number, 40));
  return `[Contact: ${[asLine(displayName), ...numbers, ...found].filter(Boolean).join(', ')}]`;
}

function productsText(products: unknown): string {
  return asList(products)
    .slice(0, MAX_ENTRIES)
    .map((value) => {
      const product = asObject(value);
      return `${asLine(product.quantity, 20) || '1'} × ${asLine(product.name) || asLine(product.productId)}`;
    })
    .join('; ');
}

function namesIn(options: unknown): string {
  return asList(options)
    .slice(0, MAX_ENTRIES)
    .map((each) => asLine(asObject(each).name))
    .filter(Boolean)
    .join(', ');
}

function isFetchable(address: string): boolean {
  return address.length <= MAX_ADDRESS && /^https?:\/\/[^/]/i.test(address);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
