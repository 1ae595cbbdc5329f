import type { Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import type { ChannelConnectionRow } from '../../db/queries/channels/connections.ts';
import type { InboundRow } from '../../db/queries/channels/inboundMessages.ts';
import {
  findOwnMessage,
  findWaiting,
  insertInboundConversation,
  insertTaken,
  lockOpenConversation,
  lockReceived,
  type TakenMessage,
  type TakenRow,
  updateReceivedDue,
} from '../../db/queries/channels/takeInbound.ts';
import { findClientOfUser } from '../../db/queries/clients/clientUsers.ts';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import { isPausedAt } from '../../db/queries/conversations/pause.ts';
import type { DB } from '../../generated/db.ts';
import type { ChannelIdentity, InboundEvent } from '../../integrations/channels/provider.ts';
import { snippetOf } from '../../runtime/turn/snippet.ts';
import { recordEcho } from './echo.ts';
import { resolveEndUser } from './endUsers.ts';
import type { FetchedFiles } from './inboundFiles.ts';
import type { JoinWindow } from './joinWindow.ts';

/** Messages of a person that wait for one answer; what comes beyond is left out, and the agent is told. */
const MAX_WAITING = 50;
/** Milliseconds after which it is looked again whether what was written on the phone is our own message. */
const OWN_LOOK_MS = 5_000;
/** After that time it is somebody else's: sending takes no longer. */
const OWN_WAIT_MS = 2 * 60_000;

/** An event as it was stored. */
export type StoredInbound = Extract<InboundEvent, { kind: 'message' | 'echo' | 'note' }>;

/** The stored event is what `receiveEvents` wrote. */
export function eventOf({ event }: Pick<InboundRow, 'event'>): StoredInbound {
  return event as unknown as StoredInbound;
}

/** Messages of one person over one connection. */
export interface InboundRows {
  connection: ChannelConnectionRow;
  /** In the order in which they were sent. */
  rows: readonly InboundRow[];
  /** By the id of the row. */
  files: ReadonlyMap<string, FetchedFiles>;
  /** For how long further messages may join. */
  window: JoinWindow;
  now: Date;
}

/** What became of the rows. */
export interface TakenRows {
  conversationId: string;
  /** When what waits is to be answered; undefined when nothing does. */
  dueAt: Date | undefined;
  /** The rows whose files nobody needs. */
  dropped: string[];
}

/** Takes the rows that are still there into the person's conversation, which begins if none is open. */
export async function takeRows(
  trx: Transaction<DB>,
  { connection, rows, files, window, now }: InboundRows,
): Promise<TakenRows> {
  const { workspace_id: workspaceId } = connection;
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
  trx: Transaction<DB>,
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
function clientUserOf({ channel_type }: ChannelConnectionRow, events: readonly StoredInbound[]): string | undefined {
  if (channel_type !== 'web_chat') return undefined;
  const [first] = events.flatMap((event) => (event.kind === 'message' ? (event.clientUserId ?? []) : []));
  return first;
}

/** When the messages that wait are to be answered: further ones may join them for a while, counted from the first. */
function dueTime({ quietMs, mostMs }: JoinWindow, first: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), Math.min(now.getTime() + quietMs, first.getTime() + mostMs)));
}

function textsOf(text: string, fetched: FetchedFiles | undefined): Pick<TakenMessage, 'content' | 'model_text'> {
  if (!fetched || fetched.notes.length === 0) return { content: text, model_text: null };
  return { content: text, model_text: [text, ...fetched.notes].filter((part) => part !== '').join('\n\n') };
}

function identitiesOf(events: readonly StoredInbound[]): ChannelIdentity[] {
  const seen = new Map(
    events.flatMap(({ identities }) => identities).map((each) => [`${each.kind}:${each.value}`, each]),
  );
  return [...seen.values()];
}

function nameOf(events: readonly StoredInbound[]): string | null {
  const names = events.map((event) => (event.kind === 'message' ? event.profileName : null));
  return names.findLast((name) => name !== null) ?? null;
}
