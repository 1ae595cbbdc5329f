import type { Logger } from 'pino';
import { newId } from '../../core/ids.ts';
import { chatChanged } from '../../db/events.ts';
import { insertLiveReplyPiece, removeLiveReply } from '../../db/queries/channels/liveReplies.ts';
import type { WorkspaceContext } from '../context.ts';

/** A reply is written so often at most, in milliseconds. */
export const LIVE_WRITE_MS = 250;
/** Code units of a piece. A stream reads whole pieces. */
const MAX_PIECE = 65_536;

/** A reply that is being written, as the streams of browsers see it. */
export interface LiveReply {
  /** Takes the next piece of text. Never throws, and nobody waits for the write: a turn does not depend on its readers. */
  onText(delta: string): void;
  /** The reply is stored, or will not be: what was written for the streams is removed. Never rejects. */
  end(): Promise<void>;
}

/** What a live reply needs. */
export type LiveContext = Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'> & { logger?: Pick<Logger, 'warn'> };

/**
 * Begins a reply that streams may follow, in whatever process they are: its text is written every `LIVE_WRITE_MS` at most. Pass
 * `onText` to `runTurn`, and call `end` when that has settled. Resolves when the streams have been told; never rejects.
 */
export async function beginLiveReply(context: LiveContext, conversationId: string): Promise<LiveReply> {
  const { db, workspaceId, clock, logger } = context;
  const replyId = newId();
  let waiting = '';
  let written = 0;
  let place = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  let broken = false;

  /** Without live text people wait for the reply, and see nothing else of it. */
  const failed = (error: unknown) => {
    broken = true;
    logger?.warn({ err: error, workspaceId, conversationId }, 'the text of a running reply could not be shown');
  };
  const write = async (text: string) => {
    const piece = { conversation_id: conversationId, reply_id: replyId, place, start_at: written, text };
    place += 1;
    written += text.length;
    await insertLiveReplyPiece(db, workspaceId, piece, clock.now());
  };
  const tell = () => chatChanged.notify(db, { workspaceId, conversationId });
  let writing = write('').then(tell).catch(failed);

  /** Writes what waits now; what comes meanwhile is for the next write. */
  async function flush(): Promise<void> {
    timer = undefined;
    let rest = waiting;
    waiting = '';
    while (rest !== '' && !ended && !broken) {
      const text = rest.slice(0, endOfPiece(rest));
      rest = rest.slice(text.length);
      await write(text).catch(failed);
    }
  }

  await writing;
  return {
    onText(delta) {
      if (ended || broken) return;
      waiting += delta;
      timer ??= setTimeout(() => {
        writing = writing.then(flush);
      }, LIVE_WRITE_MS).unref();
    },
    async end() {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      await writing;
      await removeLiveReply(db, workspaceId, conversationId, replyId).then(tell).catch(failed);
    },
  };
}

/** Where a piece ends: no character is cut in two. */
function endOfPiece(text: string): number {
  if (text.length <= MAX_PIECE) return text.length;
  const last = text.charCodeAt(MAX_PIECE - 1);
  return last >= 0xd800 && last < 0xdc00 ? MAX_PIECE - 1 : MAX_PIECE;
}
