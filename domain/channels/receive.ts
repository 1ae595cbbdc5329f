import { createHash } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import { isUuid, newId } from '../../core/ids.ts';
import { toStorableJson } from '../../core/json.ts';
import { cutText, toStorable } from '../../core/text.ts';
import { insertReceived, type ReceivedRow } from '../../db/queries/channels/inboundMessages.ts';
import { type Receipt, updateByReceipts } from '../../db/queries/channels/receipts.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ChannelConnections, DB } from '../../generated/db.ts';
import type { ChannelIdentity, InboundEvent } from '../../integrations/channels/provider.ts';

/** Characters of a message, as many as the API takes. */
const MAX_TEXT = 32_000;
/** Files of a message. A provider sends one; what is beyond is left out. */
const MAX_FILES = 10;
const MAX_IDENTITIES = 10;
const MAX_PROVIDER_ID = 255;
const MAX_PERSON_KEY = 300;
const MAX_DEPTH = 10;

/** The messages of a person that wait: the data of the job `take-inbound`. */
export interface WaitingPerson {
  workspaceId: string;
  connectionId: string;
  /** Of inbound_messages.person_key. */
  person: string;
}

/** What was received, once it is stored. */
export interface Received {
  /** Send a job `take-inbound` for each, after the acknowledgement. One that is lost is found by the sweep. */
  waiting: WaitingPerson[];
  /** What the provider says of the account, newest last: whoever called stores it with the connection. */
  health: Extract<InboundEvent, { kind: 'health' }>['problem'][];
}

type PersonEvent = Extract<InboundEvent, { kind: 'message' | 'echo' | 'note' }>;
type StatusEvent = Extract<InboundEvent, { kind: 'status' }>;

/**
 * Stores what a provider's webhook, or the web chat, says of a connection. When it resolves, everything is stored and may be acknowledged.
 * What comes again, also while it is being answered, makes nothing new. Messages to a connection that is not active are kept and not
 * answered. Never throws for what the events say; throws when the database does not take them, and nothing is stored then.
 */
export async function receiveEvents(
  db: Kysely<DB>,
  connection: Pick<Selectable<ChannelConnections>, 'workspace_id' | 'id' | 'is_active'>,
  events: readonly InboundEvent[],
  now: Date,
): Promise<Received> {
  const { workspace_id: workspaceId, id: connectionId } = connection;
  const rows = new Map<string, ReceivedRow>();
  for (const event of events) {
    const row = isOfPerson(event) ? receivedRow(event, now) : undefined;
    if (row && !rows.has(row.provider_message_id)) rows.set(row.provider_message_id, row);
  }
  // In one order, so that two deliveries of the same messages do not wait for each other.
  const sorted = [...rows.values()].sort((a, b) => (a.provider_message_id < b.provider_message_id ? -1 : 1));
  const receipts = events.filter((event) => event.kind === 'status').map((event) => receiptOf(event, now));
  const ignoredFor = connection.is_active ? null : 'CONNECTION_INACTIVE';
  const insert = (handle: Kysely<DB>) =>
    sorted.length === 0 ? [] : insertReceived(handle, workspaceId, connectionId, sorted, { now, ignoredFor });
  const people = await (receipts.length === 0
    ? insert(db)
    : inTransaction(db, async (trx) => {
        await updateByReceipts(trx, workspaceId, connectionId, receipts, now);
        return insert(trx);
      }));
  return {
    waiting: [...new Set(people)].map((person) => ({ workspaceId, connectionId, person })),
    health: events.filter((event) => event.kind === 'health').map(({ problem }) => problem),
  };
}

function isOfPerson(event: InboundEvent): event is PersonEvent {
  return event.kind === 'message' || event.kind === 'echo' || event.kind === 'note';
}

/** The event as it is stored; undefined when it names nobody. */
function receivedRow(event: PersonEvent, now: Date): ReceivedRow | undefined {
  const identities = event.identities.filter(({ value }) => value.trim() !== '').slice(0, MAX_IDENTITIES);
  const [first] = identities;
  if (!first || event.providerMessageId === '') return undefined;
  const sentAt = timeOf(event.sentAt, now);
  const bounded = { ...event, identities, sentAt: sentAt.toISOString(), ...boundedTexts(event) };
  return {
    id: newId(),
    provider_message_id: boundedId(event.providerMessageId),
    person_key: personKey(first),
    event: toStorableJson(bounded, MAX_DEPTH),
    sent_at: sentAt,
  };
}

function boundedTexts(event: PersonEvent): Partial<Record<'text' | 'note', string>> & { media?: unknown[] } {
  if (event.kind === 'note') return { note: cutText(event.note, MAX_TEXT) };
  const text = event.text.length > MAX_TEXT ? `${cutText(event.text, MAX_TEXT)} [cut off]` : event.text;
  return event.kind === 'echo' ? { text } : { text, media: event.media.slice(0, MAX_FILES) };
}

/** By what the messages of one person are put in order before it is known who the person is. */
function personKey({ kind, value }: ChannelIdentity): string {
  return cutText(toStorable(`${kind}:${value.trim()}`), MAX_PERSON_KEY);
}

/** An id as the table takes it. An id that is longer than any provider's is known by its digest. */
function boundedId(id: string): string {
  const storable = toStorable(id);
  return [...storable].length <= MAX_PROVIDER_ID ? storable : createHash('sha256').update(id).digest('hex');
}

/** A time that a provider gives; the present one in place of what is no time, or is still to come. */
function timeOf(text: string, now: Date): Date {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) || time > now ? now : time;
}

function receiptOf(
  { providerMessageId, deliveryId, status, errorCode, errorMessage, at }: StatusEvent,
  now: Date,
): Receipt {
  return {
    provider_message_id: boundedId(providerMessageId),
    delivery_id: deliveryId !== null && isUuid(deliveryId) ? deliveryId : null,
    status,
    error_code: errorCode && cutText(toStorable(errorCode), 100),
    error_message: errorMessage && cutText(toStorable(errorMessage), 1_000),
    at: timeOf(at, now),
  };
}
