import { cutText } from '../../core/text.ts';
import type { HistoryRow } from '../../db/queries/conversations/history.ts';
import { type ResolvedAttachment, toModelParts, withAttachmentNotes } from '../files/attachments.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { type ModelMessage, type ToolResultPart, withoutProviderParts } from '../models/prompt.ts';
import { fitHistory } from './history.ts';
import { transcriptMessages } from './storedTranscript.ts';

/** Room for the reply in the context window: a quarter of it, and no more than replies commonly take. */
const MAX_REPLY_RESERVE = 8_192;
/** No token of the usual vocabularies stands for more text on average: what lies beyond cannot fit the window. */
const BYTES_PER_TOKEN = 8;
/** Characters of a tool's result that later turns see: what they need again they ask for again. */
const MAX_RESULT_SHOWN = 4_000;
const MIN_RESULT_SHOWN = 400;
/** Of all results of a turn; and of its calls and results together, as JSON. */
const MAX_RESULTS_SHOWN = 40_000;
const MAX_TRANSCRIPT_SHOWN = 60_000;
/** The share of the window that the calls of one earlier turn may take, in characters a token. */
const CHARACTERS_OF_CALLS = 0.75;

/** Tokens of the window that are left to the reply. */
export const replyReserve = (contextWindow: number): number =>
  Math.min(MAX_REPLY_RESERVE, Math.floor(contextWindow / 4));

/** Bytes of history that are worth reading for a model. */
export const historyBytes = (model: Pick<ModelDescriptor, 'contextWindow'> | undefined): number =>
  (model?.contextWindow ?? 0) * BYTES_PER_TOKEN;

/** A user's message as a model gets it. */
export function userMessage(text: string, attachments: readonly ResolvedAttachment[]): ModelMessage {
  if (attachments.length === 0) return { role: 'user', content: text };
  const textParts = text === '' ? [] : [{ type: 'text' as const, text }];
  return { role: 'user', content: [...textParts, ...toModelParts(attachments)] };
}

/**
 * The calls of an earlier turn as later ones store and show them: of use to any model, with results of bounded length, and without
 * what was said beside them, which is in the reply. Of very many calls the last ones.
 */
export function transcriptOf(messages: readonly ModelMessage[]): ModelMessage[] | null {
  const results = messages.reduce((sum, { role, content }) => sum + (role === 'tool' ? content.length : 0), 0);
  const most = Math.max(MIN_RESULT_SHOWN, Math.min(MAX_RESULT_SHOWN, Math.floor(MAX_RESULTS_SHOWN / results)));
  const shown = withoutProviderParts(messages).map((message) => {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      return { ...message, content: message.content.filter(({ type }) => type === 'tool-call') };
    }
    return message.role === 'tool' ? { ...message, content: message.content.map((one) => cut(one, most)) } : message;
  });
  let left = MAX_TRANSCRIPT_SHOWN;
  let first = shown.length;
  for (const [place, message] of [...shown.entries()].reverse()) {
    left -= JSON.stringify(message).length;
    if (left < 0) break;
    if (message.role === 'assistant') first = place;
  }
  return first < shown.length ? shown.slice(first) : null;
}

function cut(result: ToolResultPart, most: number): ToolResultPart {
  if (result.text.length <= most) return result;
  return { ...result, text: `${cutText(result.text, most)}\n[cut off]` };
}

/** A message of the conversation with the calls before it: they stay or go together. */
interface HistoryEntry {
  role: 'user' | 'assistant';
  content: string;
  messages: ModelMessage[];
}

/** Calls longer than `most` as JSON are left out: what was said must not be forgotten for them. */
function historyEntry(row: HistoryRow, most: number): HistoryEntry {
  const text = withAttachmentNotes(row.content, row.attachments);
  const transcript = transcriptMessages(row.transcript);
  const json = transcript.length > 0 ? JSON.stringify(transcript) : '';
  const [calls, cost] = json.length <= most ? [transcript, json] : [[], ''];
  return { role: row.role, content: text + cost, messages: [...calls, { role: row.role, content: text }] };
}

/**
 * What was said before, as much of it as fits the model's window beside the system prompt, the tools and the newest message. Calls of
 * earlier turns are shown where the agent has tools: without, providers refuse to be shown any.
 */
export async function historyMessages(
  rows: readonly HistoryRow[],
  newest: { text: string; attachments: readonly ResolvedAttachment[] },
  { model, system, tools }: { model: ModelDescriptor; system: string; tools: readonly unknown[] },
): Promise<ModelMessage[]> {
  if (rows.length === 0) return [];
  const { messages } = await fitHistory({
    contextWindow: model.contextWindow,
    reserveForReply: replyReserve(model.contextWindow),
    systemText: tools.length > 0 ? system + JSON.stringify(tools) : system,
    turns: rows.map((row) => historyEntry(row, tools.length > 0 ? model.contextWindow * CHARACTERS_OF_CALLS : 0)),
    newest: { content: newest.text, attachments: newest.attachments },
    tokenizer: model.provider === 'openai' ? 'o200k' : 'other',
  });
  return messages.flatMap((said) => said.messages);
}
