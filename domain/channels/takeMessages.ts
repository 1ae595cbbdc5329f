import { newId } from '../../core/ids.ts';
import { type ChannelConnectionRow, findChannelConnection } from '../../db/queries/channels/connections.ts';
import type { InboundRow } from '../../db/queries/channels/inboundMessages.ts';
import {
  findOwnMessage,
  findWaiting,
  insertInboundConversation,
  insertTaken,
  lockOpenConversation,
  lockReceived,
  selectReceived,
  type TakenMessage,
  type TakenRow,
  updateReceivedDue,
} from '../../db/queries/channels/takeInbound.ts';
import { updateSettled } from '../../db/queries/channels/unanswered.ts';
import { findClientOfUser } from '../../db/queries/clients/clientUsers.ts';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import { isPausedAt } from '../../db/queries/conversations/pause.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ChannelIdentity, InboundEvent } from '../../integrations/channels/provider.ts';
import { providerOf } from '../../integrations/channels/providers.ts';
import { snippetOf } from '../../runtime/turn/snippet.ts';
import type { WorkspaceContext } from '../context.ts';
import { channelAccount } from './connections.ts';
import { recordEcho } from './echo.ts';
import { resolveEndUser } from './endUsers.ts';
import { readIdentities } from './identities.ts';
import { dropFiles, type FetchedFiles, type FetchMedia, fetchFiles, fetchMediaOf } from './inboundFiles.ts';
import { joinWindow } from './joinWindow.ts';
import type { WaitingPerson } from './receive.ts';
import { readChatFile } from './webChat/files.ts';

/** Messages that are taken at a time. */
const MAX_TAKEN = 50;
/** Messages of a person that wait for one answer; what comes beyond is left out, and the agent is told. */
const MAX_WAITING = 50;
/** Files are fetched for so long in one run; what is left is taken by the next one. */
const FILES_MS = 120_000;
/** Milliseconds after which it is looked again whether what was written on the phone is our own message. */
const OWN_LOOK_MS = 5_000;
/** After that time it is somebody else's: sending takes no longer. */
const OWN_WAIT_MS = 2 * 60_000;

/** An event as it was stored. */
type StoredEvent = Extract<InboundEvent, { kind: 'message' | 'echo' | 'note' }>;

/** What was taken, and what follows from it. */
export interface TakenInbound {
  /** The conversation in which messages wait for an answer now, and in how many milliseconds it is time for it. */
  answer: { conversationId: string; afterMs: number } | null;
  /** Whether more of the person waits to be taken. */
  isMore: boolean;
}

const NOTHING: TakenInbound = { answer: null, isMore: false };

/**
 * Stores what a person sent in the person's conversation, in the order in which it was sent: files are fetched, the person is found or
 * made, and a conversation begins where none is open. While a conversation is paused, messages are history and get no answer. It can be
 * run again at any time, and by several processes at once.
 */
export async function takeMessages(
  context: WorkspaceContext,
  person: WaitingPerson,
  ending: AbortSignal,
): Promise<TakenInbound> {
  const { db, workspaceId, runtime, clock } = context;
  const now = clock.now();
  const rows = await selectReceived(db, person, { now, limit: MAX_TAKEN });
  if (rows.length === 0) return NOTHING;
  const connection = await findChannelConnection(db, workspaceId, person.connectionId);
  if (!connection?.is_active) {
    const ids = rows.map(({ id }) => id);
    await updateSettled(db, workspaceId, ids, { status: 'ignored', code: 'CONNECTION_INACTIVE', message: null, now });
    return { ...NOTHING, isMore: rows.length === MAX_TAKEN };
  }
  const named = rows.filter((row) => isNamed(eventOf(row)));
  if (named.length < rows.length) {
    const ids = rows.filter((row) => !named.includes(row)).map(({ id }) => id);
    await updateSettled(db, workspaceId, ids, { status: 'ignored', code: 'NOBODY_NAMED', message: null, now });
  }
  if (named.length === 0) return { ...NOTHING, isMore: rows.length === MAX_TAKEN };
  const { files, read } = await filesOf(context, connection, named, ending);
  const window = await joinWindow(context, connection.agent_id);
  const taken = await inTransaction(db, (trx) =>
    takeRows({ ...context, db: trx }, { connection, rows: read, files, window }),
  );
  await dropFiles(
    runtime,
    taken.dropped.flatMap((id) => files.get(id)?.files ?? []),
  );
  const isMore = rows.length === MAX_TAKEN || read.length < named.length;
  if (!taken.dueAt) return { ...NOTHING, isMore };
  const afterMs = Math.max(0, taken.dueAt.getTime() - now.getTime());
  return { answer: { conversationId: taken.conversationId, afterMs }, isMore };
}

/** The stored event is what `receiveEvents` wrote. */
function eventOf({ event }: Pick<InboundRow, 'event'>): StoredEvent {
  return event as unknown as StoredEvent;
}

function isNamed({ identities }: StoredEvent): boolean {
  try {
    return readIdentities(identities).length > 0;
  } catch {
    return false;
  }
}

/**
 * The files of messages, by the id of the row, and the rows that were read in time. One message after the other: a person gets no more of
 * the line than that.
 */
async function filesOf(
  context: WorkspaceContext,
  connection: ChannelConnectionRow,
  rows: readonly InboundRow[],
  ending: AbortSignal,
): Promise<{ files: ReadonlyMap<string, FetchedFiles>; read: InboundRow[] }> {
  const files = new Map<string, FetchedFiles>();
  const read: InboundRow[] = [];
  const { workspaceId, runtime } = context;
  const startedAt = performance.now();
  // Made for each file: credentials that cannot be read lose the file, and not the message.
  const fetch: FetchMedia = async (media, signal) => fetcherOf(context, connection)(media, signal);
  for (const row of rows) {
    if (performance.now() - startedAt > FILES_MS) break;
    read.push(row);
    const event = eventOf(row);
    if (event.kind !== 'message' || event.media.length === 0) continue;
    const of = { workspaceId, inboundId: row.id };
    files.set(row.id, await fetchFiles(runtime, of, event.media, { fetch, ending }));
  }
  return { files, read };
}

/** How files of the connection are fetched: those of the chat page are here already. */
function fetcherOf(context: WorkspaceContext, connection: ChannelConnectionRow): FetchMedia {
  const { runtime } = context;
  const provider = providerOf(connection.channel_type, runtime.channels);
  if (!provider) return ({ reference }) => readChatFile(context, connection.id, reference);
  return fetchMediaOf(provider, channelAccount(runtime.secrets, connection));
}

interface Taking {
  connection: ChannelConnectionRow;
  rows: readonly InboundRow[];
  files: ReadonlyMap<string, FetchedFiles>;
  /** Milliseconds for which further messages may join. */
  window: { quietMs: number; mostMs: number };
}

/** Takes the rows that are still there, within a transaction. `dueAt`: when what waits is to be answered; undefined when nothing does. */
async function takeRows(
  { db, workspaceId, clock }: WorkspaceContext,
  { connection, rows, files, window }: Taking,
): Promise<{ conversationId: string; dueAt: Date | undefined; dropped: string[] }> {
  const trx = db as Parameters<typeof resolveEndUser>[0];
  const now = clock.now();
  const events = rows.map(eventOf);
  const place = { workspaceId, connectionId: connection.id };
  const user = await resolveEndUser(trx, place, identitiesOf(events), { name: nameOf(events), now });
  const mine = await lockReceived(
    trx,
    workspaceId,
    rows.map(({ id }) => id),
  );
  const conversation = await openConversation(trx, {
    connection,
    user,
    clientUserId: clientUserOf(connection, events),
    now,
  });
  const conversationId = conversation.id;
  const isPaused = isPausedAt(conversation, now);
  const waiting = await findWaiting(trx, workspaceId, conversationId);
  const dueAt = dueTime(window, waiting.since ?? now, now);
  const taken: TakenRow[] = [];
  const messages: TakenMessage[] = [];
  const postponed: string[] = [];
  let left = MAX_WAITING - waiting.count;
  let leftOut = 0;
  const written: Date[] = [];
  for (const row of rows.filter(({ id }) => mine.has(id))) {
    const event = eventOf(row);
    const note = (code: string | null, messageId: string | null = null): TakenRow => {
      return { id: row.id, status: 'ignored', code, message_id: messageId, files: null, due_at: now };
    };
    if (event.kind === 'echo') {
      const own = await findOwnMessage(trx, { ...place, conversationId }, row.provider_message_id);
      if (own === 'unknown' && now.getTime() - row.received_at.getTime() < OWN_WAIT_MS) postponed.push(row.id);
      else if (own === 'ours') taken.push(note('OWN_MESSAGE'));
      else {
        const messageId = await recordEcho(trx, { workspaceId, conversationId }, event.text, now);
        taken.push(note('WRITTEN_BY_A_PERSON', messageId ?? null));
      }
      continue;
    }
    const id = newId();
    if (event.kind === 'note') {
      messages.push({ id, content: `[${event.note}]`, model_text: null, attachments: [], sent_at: row.sent_at });
      taken.push(note('NOTED', id));
      continue;
    }
    if (left === 0 && !isPaused) {
      leftOut += 1;
      taken.push(note('TOO_MANY_MESSAGES'));
      continue;
    }
    written.push(row.sent_at);
    const fetched = files.get(row.id);
    messages.push({
      id,
      sent_at: row.sent_at,
      attachments: fetched?.attachments ?? [],
      ...textsOf(event.text, fetched),
    });
    if (isPaused) taken.push(note('CONVERSATION_PAUSED', id));
    else {
      left -= 1;
      taken.push({
        id: row.id,
        status: 'taken',
        code: null,
        message_id: id,
        files: fetched?.files ?? null,
        due_at: dueAt,
      });
    }
  }
  if (leftOut > 0) {
    const content = `[The person sent ${leftOut} further messages at once. They were left out.]`;
    messages.push({ id: newId(), content, model_text: null, attachments: [], sent_at: now });
  }
  if (postponed.length > 0) {
    await updateReceivedDue(trx, workspaceId, postponed, new Date(now.getTime() + OWN_LOOK_MS));
  }
  const snippet = messages.length > 0 ? snippetOf(messages.at(-1)?.content || 'A file') : null;
  await insertTaken(trx, conversation, user.id, {
    rows: taken,
    messages,
    snippet,
    lastInboundAt: written.at(-1) ?? null,
    now,
  });
  const waits = taken.some(({ status }) => status === 'taken');
  const dropped = taken.filter(({ status }) => status === 'ignored').map(({ id }) => id);
  return { conversationId, dueAt: waits ? dueAt : undefined, dropped };
}

/** The person's open conversation, which keeps its client, or one that begins. */
async function openConversation(
  trx: Parameters<typeof resolveEndUser>[0],
  {
    connection,
    user,
    clientUserId,
    now,
  }: {
    connection: ChannelConnectionRow;
    user: { id: string; externalUserId: string };
    clientUserId: string | undefined;
    now: Date;
  },
): Promise<ConversationRow> {
  const { workspace_id: workspaceId, id: connectionId, agent_id, channel_type } = connection;
  const open = await lockOpenConversation(trx, { workspaceId, connectionId, endUserId: user.id });
  if (open) return open;
  const client_id =
    clientUserId === undefined ? null : ((await findClientOfUser(trx, workspaceId, clientUserId)) ?? null);
  const conversation = {
    workspace_id: workspaceId,
    id: newId(),
    agent_id,
    external_user_id: user.externalUserId,
    channel: channel_type,
    connection_id: connectionId,
    end_user_id: user.id,
    client_id,
    client_user_id: client_id === null ? null : (clientUserId ?? null),
  };
  return insertInboundConversation(trx, conversation, now);
}

/** The signed-in user of a client who wrote; undefined when nobody is signed in. No provider is believed. */
function clientUserOf({ channel_type }: ChannelConnectionRow, events: readonly StoredEvent[]): string | undefined {
  if (channel_type !== 'web_chat') return undefined;
  const [first] = events.flatMap((event) => (event.kind === 'message' ? (event.clientUserId ?? []) : []));
  return first;
}

/** When the messages that wait are to be answered: further ones may join them for a while, counted from the first. */
function dueTime({ quietMs, mostMs }: Taking['window'], first: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), Math.min(now.getTime() + quietMs, first.getTime() + mostMs)));
}

function textsOf(text: string, fetched: FetchedFiles | undefined): Pick<TakenMessage, 'content' | 'model_text'> {
  if (!fetched || fetched.notes.length === 0) return { content: text, model_text: null };
  return { content: text, model_text: [text, ...fetched.notes].filter((part) => part !== '').join('\n\n') };
}

function identitiesOf(events: readonly StoredEvent[]): ChannelIdentity[] {
  const seen = new Map(
    events.flatMap(({ identities }) => identities).map((each) => [`${each.kind}:${each.value}`, each]),
  );
  return [...seen.values()];
}

function nameOf(events: readonly StoredEvent[]): string | null {
  const names = events.map((event) => (event.kind === 'message' ? event.profileName : null));
  return names.findLast((name) => name !== null) ?? null;
}
