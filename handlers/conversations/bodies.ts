import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import type { MessageRow } from '../../db/queries/conversations/messages.ts';
import { isPausedAt } from '../../db/queries/conversations/pause.ts';
import type { components } from '../../generated/api.ts';
import { publicFileUrl } from '../../runtime/files/publicFiles.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Schemas = components['schemas'];

/** The fields that both forms of a conversation have. */
function commonOf(row: ConversationRow, now: Date) {
  return {
    publicId: row.id,
    agentPublicId: row.agent_id,
    channel: row.channel,
    externalUserId: row.external_user_id,
    isTest: row.is_test,
    isPaused: isPausedAt(row, now),
    isEnded: row.is_ended,
    messageCount: row.message_count,
    startedAt: row.started_at.toISOString(),
    lastMessageAt: row.last_message_at.toISOString(),
  };
}

/** The conversation as the contract shows it. */
export function conversationBody(row: ConversationRow, now: Date): Schemas['Conversation'] {
  return { ...commonOf(row, now), metadata: row.metadata };
}

/** The conversation as a list shows it. */
export function conversationListItem(row: ConversationRow, now: Date): Schemas['ConversationListItem'] {
  return { ...commonOf(row, now), lastMessageSnippet: row.last_message_snippet ?? '' };
}

/** A stored message as the contract shows it. A message of a user, or of a person in place of the agent, used no model, so it has no usage. */
export function messageBody(row: MessageRow, runtime: Pick<Runtime, 'publicUrl'>): Schemas['Message'] {
  const fromAgent = row.role === 'assistant' && row.model !== null;
  const inputTokens = row.input_tokens ?? 0;
  const outputTokens = row.output_tokens ?? 0;
  return {
    publicId: row.id,
    conversationPublicId: row.conversation_id,
    role: row.role,
    content: row.content,
    ui: row.ui as Schemas['Message']['ui'],
    audioUrl: row.audio_key === null ? null : publicFileUrl(runtime.publicUrl, row.audio_key),
    model: row.model,
    tokenUsage: fromAgent ? { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } : null,
    costUsd: fromAgent ? (row.cost_usd ?? 0) : null,
    costOps: row.cost_ops ?? 0,
    sentAt: row.sent_at.toISOString(),
  };
}
