import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { asId, asLine, asList, asObject, asTime, type Payload, parseJson } from '../payload.ts';
import type { ChannelAccount, ChannelIdentity, InboundEvent, WebhookAnswer, WebhookRequest } from '../provider.ts';
import { accountEvent, accountProblem, errorText } from './account.ts';
import { echoEvent, ignored, messageEvent } from './messages.ts';
import { identitiesOf, NamedPeople, recipientOf, senderOf } from './people.ts';

/*
 * The webhooks of the Cloud API. One POST holds several entries (accounts), each with several changes (phone numbers), each with several
 * messages, statuses and errors.
 */

/** Meta puts at most 1,000 updates in one POST; twice as many are read, and what follows is dropped with a word. */
const MAX_EVENTS = 2000;
const CHALLENGE = /^[\w.-]{1,200}$/;
const STATUSES: ReadonlyMap<string, 'sent' | 'delivered' | 'read' | 'failed'> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  // A voice message was listened to (since March 2026).
  ['played', 'read'],
  ['failed', 'failed'],
]);

type AccountEvent = { account: string | null; event: InboundEvent };

/** Checks who sent the request, and reads it. Never throws. `now` takes the place of times that cannot be. */
export function receiveWebhook(account: ChannelAccount, request: WebhookRequest, now: Date): WebhookAnswer {
  if (request.method === 'GET') return answerHandshake(account, request.query);
  if (!isSigned(account.credentials.appSecret, request)) {
    return { kind: 'refused', status: 401, reason: 'The signature is missing or wrong.' };
  }
  const body = parseJson(request.body);
  if (body === undefined) return { kind: 'refused', status: 400, reason: 'The body is not JSON.' };
  const { object, entry } = asObject(body);
  if (object !== 'whatsapp_business_account') {
    return { kind: 'events', events: [{ account: null, event: ignored(null, 'A webhook about something else.') }] };
  }
  const events: AccountEvent[] = [];
  for (const event of eventsOf(asList(entry), account, now)) {
    if (events.length === MAX_EVENTS) {
      events.push({ account: null, event: ignored(null, `What followed ${MAX_EVENTS} events in one request.`) });
      break;
    }
    events.push(event);
  }
  return { kind: 'events', events };
}

/** `hub.challenge` is repeated to whoever knows the verify token (developers.facebook.com/docs/graph-api/webhooks/getting-started). */
function answerHandshake(account: ChannelAccount, query: WebhookRequest['query']): WebhookAnswer {
  const { verifyToken } = account.credentials;
  const token = query['hub.verify_token'];
  const challenge = query['hub.challenge'];
  const isKnown =
    typeof verifyToken === 'string' && verifyToken !== '' && typeof token === 'string' && isEqual(token, verifyToken);
  if (query['hub.mode'] !== 'subscribe' || !isKnown) {
    return { kind: 'refused', status: 403, reason: 'The verify token is wrong.' };
  }
  // It is Meta's number. Anything that a browser could take for a page is not repeated.
  if (typeof challenge !== 'string' || !CHALLENGE.test(challenge)) {
    return {
      kind: 'refused',
      status: 400,
      reason: 'The challenge is missing or has characters that no challenge has.',
    };
  }
  return { kind: 'handshake', text: challenge };
}

/** `X-Hub-Signature-256: sha256=…`: HMAC-SHA256 of the raw body with the app secret, in hexadecimal digits of either case. */
function isSigned(appSecret: unknown, { headers, body }: WebhookRequest): boolean {
  if (typeof appSecret !== 'string' || appSecret === '') return false;
  const header = headers['x-hub-signature-256'];
  const digits = typeof header === 'string' ? /^sha256=([0-9a-f]{64})$/i.exec(header.trim())?.[1] : undefined;
  if (digits === undefined) return false;
  return timingSafeEqual(Buffer.from(digits, 'hex'), createHmac('sha256', appSecret).update(body).digest());
}

/** Compares digests: `timingSafeEqual` takes only equal lengths. */
function isEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

function* eventsOf(entries: readonly unknown[], account: ChannelAccount, now: Date): Generator<AccountEvent> {
  for (const value of entries.slice(0, MAX_EVENTS)) {
    const entry = asObject(value);
    for (const each of asList(entry.changes).slice(0, MAX_EVENTS)) {
      const change = asObject(each);
      const content = asObject(change.value);
      const phoneNumberId = asId(asObject(content.metadata).phone_number_id);
      const field = asLine(change.field, 100);
      if (phoneNumberId === null) {
        yield { account: null, event: accountEvent(field, content, asId(entry.id), account) };
        continue;
      }
      for (const event of changeEvents(field, content, now)) yield { account: phoneNumberId, event };
    }
  }
}

/** The events of one change of one phone number. */
function* changeEvents(field: string, change: Payload, now: Date): Generator<InboundEvent> {
  if (field === 'history' || field === 'smb_app_state_sync') {
    yield ignored(null, `What was on the phone before (${field}).`);
    return;
  }
  // One more than is read, so that what is too much is noticed.
  const messages = asList(change.messages)
    .slice(0, MAX_EVENTS + 1)
    .map(asObject);
  const people = new NamedPeople(change);
  const senders = new Set(messages.map(({ from, from_user_id: user }) => JSON.stringify([from ?? null, user ?? null])));
  for (const message of messages) {
    const sender = senderOf(message, people, senders.size === 1);
    const system = asObject(message.system);
    // A new number or id: both name one person from now on, the new one first.
    const changed =
      message.type === 'system' ? identitiesOf([system.wa_id, system.user_id, system.parent_user_id]) : [];
    const identities = identitiesOf([...changed, ...sender.identities].map(({ value }) => value));
    yield messageEvent(message, { identities, profileName: sender.profileName, now });
  }
  for (const echo of asList(change.message_echoes)
    .slice(0, MAX_EVENTS + 1)
    .map(asObject)) {
    yield echoEvent(echo, identitiesOf([echo.to, echo.to_user_id, echo.to_parent_user_id]), now);
  }
  for (const status of asList(change.statuses)
    .slice(0, MAX_EVENTS + 1)
    .map(asObject))
    yield* statusEvents(status, people, now);
  for (const error of asList(change.errors)
    .slice(0, MAX_EVENTS + 1)
    .map(asObject)) {
    const problem = accountProblem(error);
    yield problem === null
      ? ignored(null, `An error of the account: ${errorText(error)}`)
      : { kind: 'health', problem: { code: problem, message: errorText(error) } };
  }
  if (messages.length === 0 && !change.message_echoes && !change.statuses && !change.errors) {
    yield ignored(null, `A webhook about ${field || 'nothing that is known'}.`);
  }
}

function* statusEvents(status: Payload, people: NamedPeople, now: Date): Generator<InboundEvent> {
  const id = asId(status.id);
  const kind = STATUSES.get(asLine(status.status, 20));
  if (id === null || kind === undefined) {
    yield ignored(id, `A status ${asLine(status.status, 40) || '(none)'}.`);
    return;
  }
  if (status.recipient_type === 'group') {
    yield ignored(id, 'A status of a message in a group.');
    return;
  }
  const error = kind === 'failed' ? asObject(asList(status.errors)[0]) : null;
  yield {
    kind: 'status',
    providerMessageId: id,
    deliveryId: asId(status.biz_opaque_callback_data),
    status: kind,
    ...(kind === 'delivered' ? severalIdentities(status, people) : {}),
    errorCode: error && (asLine(error.code, 20) || 'UNKNOWN'),
    errorMessage: error && errorText(error),
    at: asTime(status.timestamp, now),
  };
  const problem = error && accountProblem(error);
  if (error && problem) yield { kind: 'health', problem: { code: problem, message: errorText(error) } };
}

/** Those of the recipient, if the status shows how they belong together. Only a delivery is asked: it comes once for each message. */
function severalIdentities(status: Payload, people: NamedPeople): { identities?: ChannelIdentity[] } {
  const identities = recipientOf(status, people);
  return identities.length > 1 ? { identities } : {};
}
