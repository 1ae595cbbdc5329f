import type { Kysely } from 'kysely';
import { loadHistory } from '../db/queries/messages.ts';
import type { DB } from '../generated/db.ts';
import { type ResolvedAttachment, type StoredAttachment, toModelParts, withAttachmentNotes } from './attachments.ts';
import { fitHistory } from './history.ts';
import type { ModelDescriptor } from './models/catalogue.ts';
import type { ModelMessage } from './models/prompt.ts';
import type { Snapshot } from './snapshot.ts';
import { renderPrompt } from './variables.ts';
import { valueProblem } from './variableValues.ts';

/** Room for the reply in the context window: a quarter of it, and no more than replies commonly take. */
const REPLY_RESERVE = 8_192;
/** No token of the usual vocabularies stands for more text on average: what lies beyond cannot fit the window. */
const BYTES_PER_TOKEN = 8;

/**
 * The system prompt of a turn. `given` is the message's own `metadata.variables`, `stored` the conversation's metadata.
 * Throws VALIDATION_ERROR for given values that do not fit, MISSING_VARIABLE.
 */
export function systemPrompt(snapshot: Snapshot, given: unknown, stored: Record<string, unknown> | null): string {
  const prompt = snapshot.systemPrompt ?? '';
  if (!snapshot.dynamicPromptEnabled) return prompt;
  const definitions = Object.values(snapshot.variablesSnapshot);
  // The first message's values stay with the conversation; a later message's count for its own turn. A kept value can have
  // lost its type or option with a later version: that is not this message's fault, so it is as if there were none.
  const kept = (stored?.variables ?? {}) as Record<string, unknown>;
  const fitting = definitions.filter(
    (one) => Object.hasOwn(kept, one.name) && valueProblem(one, kept[one.name]) === null,
  );
  const values = Object.fromEntries(fitting.map(({ name }) => [name, kept[name]]));
  return renderPrompt(prompt, definitions, { ...values, ...(given as object | undefined) }).text;
}

/** A user's message as a model gets it. */
export function userMessage(content: string, attachments: readonly ResolvedAttachment[]): ModelMessage {
  if (attachments.length === 0) return { role: 'user', content };
  const text = content === '' ? [] : [{ type: 'text' as const, text: content }];
  return { role: 'user', content: [...text, ...toModelParts(attachments)] };
}

/** What was said before the message, as much of it as fits the model's window beside the system prompt and the message. */
export async function historyBefore(
  db: Kysely<DB>,
  message: {
    workspaceId: string;
    conversationId: string;
    id: string;
    content: string;
    attachments: readonly ResolvedAttachment[];
  },
  model: ModelDescriptor,
  system: string,
): Promise<ModelMessage[]> {
  const { workspaceId, conversationId, id, content, attachments } = message;
  const rows = await loadHistory(db, workspaceId, conversationId, id, model.contextWindow * BYTES_PER_TOKEN);
  const turns = rows.map((row) => ({
    role: row.role,
    content: withAttachmentNotes(row.content, row.attachments as StoredAttachment[]),
  }));
  const { messages } = await fitHistory({
    contextWindow: model.contextWindow,
    reserveForReply: Math.min(REPLY_RESERVE, Math.floor(model.contextWindow / 4)),
    systemText: system,
    turns,
    newest: { content, attachments },
    tokenizer: model.provider === 'openai' ? 'o200k' : 'other',
  });
  return messages;
}
