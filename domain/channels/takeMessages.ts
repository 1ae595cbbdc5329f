import { type ChannelConnectionRow, findChannelConnection } from '../../db/queries/channels/connections.ts';
import type { InboundRow } from '../../db/queries/channels/inboundMessages.ts';
import { selectReceived } from '../../db/queries/channels/takeInbound.ts';
import { updateSettled } from '../../db/queries/channels/unanswered.ts';
import { inTransaction } from '../../db/transaction.ts';
import { providerOf } from '../../integrations/channels/providers.ts';
import type { WorkspaceContext } from '../context.ts';
import { channelAccount } from './connections.ts';
import { readIdentities } from './identities.ts';
import { dropFiles, type FetchedFiles, type FetchMedia, fetchFiles, fetchMediaOf } from './inboundFiles.ts';
import { joinWindow } from './joinWindow.ts';
import type { WaitingPerson } from './receive.ts';
import { eventOf, type StoredInbound, takeRows } from './takeRows.ts';
import { readChatFile } from './webChat/files.ts';

/** Messages that are taken at a time. */
const MAX_TAKEN = 50;
/** Files are fetched for so long in one run; what is left is taken by the next one. */
const FILES_MS = 120_000;
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
    takeRows(trx, { connection, rows: read, files, window, now: clock.now() }),
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

function isNamed({ identities }: StoredInbound): boolean {
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
