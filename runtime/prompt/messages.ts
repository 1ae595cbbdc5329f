import { cutText } from '../../core/text.ts';
import type { HistoryRow } from '../../db/queries/conversations/history.ts';
import { type ResolvedAttachment, toModelParts, withAttachmentNotes } from '../files/attachments.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { type ModelMessage, type ToolResultPart, withoutProviderParts } from '../models/prompt.ts';
import { fitHistory } from './history.ts';
import { transcriptMessages } from './storedTranscript.ts';

/** Tokens of the context window that are reserved for the reply, if a quarter of the window is not less. */
const MAX_REPLY_RESERVE = 8_192;
/** With no common tokenizer a token has more bytes on average, so a longer text cannot fit the window. */
const BYTES_PER_TOKEN = 8;
/** Characters of a tool's result that later turns see. They can call the tool again. */
const MAX_RESULT_SHOWN = 4_000;
const MIN_RESULT_SHOWN = 400;
/** Characters of all results of a turn, and of its calls and results together as JSON. */
const MAX_RESULTS_SHOWN = 40_000;
const MAX_TRANSCRIPT_SHOWN = 60_000;
/** Characters of the calls of one earlier turn, for each token of the window. */
const CHARACTERS_OF_CALLS = 0.75;

/** Stands before what a person wrote in place of the agent. */
export const WRITTEN_BY_A_PERSON = '[A person of the team wrote in place of you:]';

/**
 * What a person wrote in place of the agent, as the model reads it. It is a message of the assistant's role, since a user cannot write one:
 * what a person of the team promised must not be made up by the user. Messages of one role are joined, so it has an end.
 */
const writtenByPerson = (text: string): string => `${WRITTEN_BY_A_PERSON}\n${text}\n[End of what the person wrote.]`;

/** Tokens of the window that are reserved for the reply. */
export const replyReserve = (contextWindow: number): number =>
  Math.min(MAX_REPLY_RESERVE, Math.floor(contextWindow / 4));

/** Bytes of history that can fit the window of a model. */
export const historyBytes = (model: Pick<ModelDescriptor, 'contextWindow'> | undefined): number =>
  (model?.contextWindow ?? 0) * BYTES_PER_TOKEN;

/** A user's message as a model gets it. */
export function userMessage(text: string, attachments: readonly ResolvedAttachment[]): ModelMessage {
  if (attachments.length === 0) return { role: 'user', content: text };
  const textParts = text === '' ? [] : [{ type: 'text' as const, text }];
  return { role: 'user', content: [...textParts, ...toModelParts(attachments)] };
}

/**
 * The calls of a turn in the form in which they are stored and shown to later turns: readable for every model, with shortened results,
 * and without the text beside them, which is in the reply. Only the last ones when there are very many.
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

/** A message of the conversation with the calls before it. The history has both or neither. */
interface HistoryEntry {
  role: 'user' | 'assistant';
  content: string;
  messages: ModelMessage[];
}

/** Calls longer than `most` as JSON are left out, so that they do not displace messages. */
function historyEntry(row: HistoryRow, most: number): HistoryEntry {
  const said = withAttachmentNotes(row.content, row.attachments);
  const text = row.author === 'operator' ? writtenByPerson(said) : said;
  const transcript = transcriptMessages(row.transcript);
  const json = transcript.length > 0 ? JSON.stringify(transcript) : '';
  const [calls, cost] = json.length <= most ? [transcript, json] : [[], ''];
  return { role: row.role, content: text + cost, messages: [...calls, { role: row.role, content: text }] };
}

/**
 * The earlier messages that fit the model's window beside the system prompt, the tools and the newest message. Calls of earlier turns
 * are included when the agent has tools: without tools, providers refuse requests with calls.
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
