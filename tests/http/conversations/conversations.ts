import { newId } from '../../../core/ids.ts';
import { beginConversation, claimConversation, finishTurn } from '../../../db/queries/turns.ts';
import type { TestApp } from '../../support/app.ts';
import type { SeededWorkspace } from '../../support/database.ts';

/** What a test may choose of a conversation; times as in JSON. */
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

const usage = {
  model: 'gpt-4.1',
  provider: 'openai',
  inputTokens: 100,
  outputTokens: 20,
  costUsd: 0.0012345678,
  costOps: 1,
};

/** Stores a conversation with the question `Hello` and the answer `Hi there.`, as sending a message would. Answers its id. */
export async function makeConversation(app: TestApp, given: Given): Promise<string> {
  const { workspaceId, db } = given.workspace ?? app.workspace;
  const conversationId = newId();
  const turn = { workspaceId, conversationId, turnId: newId() };
  const now = new Date(given.startedAt ?? '2026-03-01T12:00:00Z');
  await beginConversation(
    db,
    {
      ...turn,
      agentId: given.agentId,
      now,
      message: { id: newId(), content: 'Hello', attachments: [], snippet: 'Hello' },
    },
    { externalUserId: given.externalUserId ?? 'user-1', isTest: given.isTest ?? false, metadata: given.metadata ?? {} },
  );
  await finishTurn(db, turn, { ...usage, id: newId(), content: 'Hi there.', snippet: 'Hi there.', now });
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

/** Stores one more turn of a conversation: a question at `askedAt`, its answer at `answeredAt`. */
export async function addTurn(
  app: TestApp,
  of: { conversationId: string; agentId: string },
  turn: { question: string; answer: string; askedAt: string; answeredAt?: string },
): Promise<void> {
  const { workspaceId, db } = app.workspace;
  const ids = { workspaceId, conversationId: of.conversationId, turnId: newId() };
  const { question, answer } = turn;
  await claimConversation(db, {
    ...ids,
    agentId: of.agentId,
    now: new Date(turn.askedAt),
    message: { id: newId(), content: question, attachments: [], snippet: question },
  });
  const now = new Date(turn.answeredAt ?? turn.askedAt);
  await finishTurn(db, ids, { ...usage, id: newId(), content: answer, snippet: answer, now });
}
