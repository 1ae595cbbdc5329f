import { findUnsentChatFiles, removeUnsentChatFile } from '../db/queries/channels/chatFiles.ts';
import { removeOldChatUsage } from '../db/queries/channels/chatUsage.ts';
import { removeOldLiveReplies } from '../db/queries/channels/liveReplies.ts';
import { chatFileKey } from '../domain/channels/webChat/files.ts';
import type { FileStore } from '../integrations/storage/storage.ts';
import type { Upkeep } from './upkeep.ts';

/** A turn ends within five minutes, so what is older was left by a process that died. */
const LIVE_REPLY_MS = 15 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Files that one run removes: the next one goes on. */
const FILES_AT_ONCE = 500;

/** Removes the text of replies whose process died before it could. */
export const forgetLiveReplies: Upkeep = {
  name: 'forget-live-replies',
  intervalMs: 5 * 60 * 1000,
  async run({ database, clock }) {
    await removeOldLiveReplies(database.system, new Date(clock.now().getTime() - LIVE_REPLY_MS));
  },
};

/** Removes the counts of earlier days, and files that visitors of chat pages uploaded a day ago and never sent. */
export function forgetChats(files: Pick<FileStore, 'delete'>): Upkeep {
  return {
    name: 'forget-chats',
    intervalMs: 60 * 60 * 1000,
    async run({ database, clock }) {
      const dayAgo = new Date(clock.now().getTime() - DAY_MS);
      await removeOldChatUsage(database.system, dayAgo.toISOString().slice(0, 10));
      for (const { workspace_id: workspaceId, id } of await findUnsentChatFiles(
        database.system,
        dayAgo,
        FILES_AT_ONCE,
      )) {
        // The row first: a message that takes the file meanwhile keeps it.
        if (await removeUnsentChatFile(database.system, workspaceId, id))
          await files.delete(chatFileKey(workspaceId, id));
      }
    },
  };
}
