import { newId } from '../../../core/ids.ts';
import { beginConversation } from '../../../db/queries/turns/beginConversation.ts';
import { claimConversation } from '../../../db/queries/turns/claimConversation.ts';
import { finishTurn } from '../../../db/queries/turns/finishTurn.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import type { TestApp } from '../../support/http/app.ts';
import { turnEnd, turnStart } from '../../support/turns/storedTurns.ts';

/** The fields of a conversation that a test may set; times as in JSON. */
export interface Given {
  agentId: string;
  workspace?: SeededWorkspace;
  externalUserId?: string;
  isTest?: boolean;
  channel?: 'api' | 'web_chat' | 'whatsapp' | 'z_api';
  isPaused?: boolean;
  isEnded?: boolean;
  metadata?: Record<string, unknown>;
  startedAt?: string;
  lastMessageAt?: string;
}

/** Stores a conversation with the question `Hello` and the reply `Hi there.`, as sending a message would. Returns its id. */
export async function makeConversation(app: TestApp, given: Given): Promise<string> {
  const { workspaceId, db } = given.workspace ?? app.workspace;
  const conversationId = newId();
  const turn = { workspaceId, conversationId, turnId: newId(), attempt: 1 };
  const now = new Date(given.startedAt ?? '2026-03-01T12:00:00Z');
  await beginConversation(db, turnStart({ ...turn, agentId: given.agentId, now }), {
    externalUserId: given.externalUserId ?? 'user-1',
    isTest: given.isTest ?? false,
    metadata: given.metadata ?? {},
  });
  await finishTurn(db, turn, turnEnd('Hi there.', { now }));
  await db
    .updateTable('conversations')
    .set({
      channel: given.channel ?? 'api',
      is_paused: given.isPaused ?? false,
      is_ended: given.isEnded ?? false,
      last_message_at: given.lastMessageAt ?? now,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', conversationId)
    .execute();
  return conversationId;
}

/** Stores one more turn of a conversation: a question at `askedAt`, its reply at `answeredAt`. */
export async function addTurn(
  app: TestApp,
  of: { conversationId: string; agentId: string },
  turn: { question: string; answer: string; askedAt: string; answeredAt?: string },
): Promise<void> {
  const { workspaceId, db } = app.workspace;
  const ids = { workspaceId, conversationId: of.conversationId, turnId: newId(), attempt: 1 };
  const { question, answer } = turn;
  const start = turnStart({ ...ids, agentId: of.agentId, now: new Date(turn.askedAt) }, question);
  await claimConversation(db, start, { historyBytes: 0 });
  const now = new Date(turn.answeredAt ?? turn.askedAt);
  await finishTurn(db, ids, turnEnd(answer, { now }));
}
