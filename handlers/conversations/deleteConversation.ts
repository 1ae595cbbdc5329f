import { fault } from '../../core/errors.ts';
import { softDeleteConversation } from '../../db/queries/conversations/conversations.ts';
import { clearSpeechSizes, selectSpeechKeys } from '../../db/queries/conversations/messages.ts';
import { clearRequests } from '../../db/queries/turns/stepRequests.ts';
import type { Handler } from '../handler.ts';

export const deleteConversation: Handler<'deleteConversation'> = async (context) => {
  const { path, db, workspaceId, clock, runtime, reply } = context;
  const deleted = await softDeleteConversation(db, workspaceId, path.conversationPublicId, clock.now());
  if (!deleted) throw fault('CONVERSATION_NOT_FOUND');
  await clearRequests(db, workspaceId, path.conversationPublicId);
  // A spoken reply can be downloaded without a key by everyone who knows its address, so the files are deleted too.
  const erased: string[] = [];
  for (const key of await selectSpeechKeys(db, workspaceId, path.conversationPublicId)) {
    try {
      await runtime.files.delete(key);
      erased.push(key);
    } catch (error) {
      runtime.logger?.warn({ err: error, key }, 'the speech of a deleted conversation was not erased');
    }
  }
  if (erased.length > 0) await clearSpeechSizes(db, workspaceId, path.conversationPublicId, erased);
  return reply(204);
};
