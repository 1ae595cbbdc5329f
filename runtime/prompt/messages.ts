import { type HistoryRow, MAX_HISTORY_MESSAGES } from '../../db/queries/conversations/history.ts';
import { withoutTurnContext } from '../capabilities/quoting.ts';
import { type ResolvedAttachment, toModelParts, withAttachmentNotes } from '../files/attachments.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { besidePart, type ModelMessage } from '../models/prompt.ts';
import { fitHistory } from './history.ts';
import { type ShownFrom, wholeFrom } from './shown.ts';
import { type TurnTranscript, transcriptOfTurn } from './storedTranscript.ts';
import { shownWithin, withoutText } from './transcript.ts';

/** Tokens of the context window that are reserved for the reply, if a quarter of the window is not less. */
const MAX_REPLY_RESERVE = 8_192;
/** With no common tokenizer a token has more bytes on average, so a longer text cannot fit the window. */
const BYTES_PER_TOKEN = 8;
/** Characters of the calls of one earlier turn, for each token of the window. */
const CHARACTERS_OF_CALLS = 0.75;
/** The share of its room that the history fills after it has outgrown it: then the next turns keep the same beginning. */
const KEPT_OF_FULL = 0.5;

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

/**
 * A user's message as a model gets it: its text, its attachments, and what stands beside it. Its text comes first, so that later
 * turns, which may be shown the text alone, begin with the same tokens.
 */
export function userMessage(
  text: string,
  attachments: readonly ResolvedAttachment[],
  beside: string = '',
): ModelMessage {
  const own = withoutTurnContext(text);
  if (attachments.length === 0 && beside === '') return { role: 'user', content: own };
  const textParts = own === '' ? [] : [{ type: 'text' as const, text: own }];
  const files = toModelParts(attachments).map((part) =>
    part.type === 'text' ? { ...part, text: withoutTurnContext(part.text) } : part,
  );
  return { role: 'user', content: [...textParts, ...files, ...(beside === '' ? [] : [besidePart(beside)])] };
}

/** A message of the conversation, and what later turns are shown of its turn. */
interface HistoryItem {
  row: HistoryRow;
  transcript: TurnTranscript | null;
  /** What stood beside it, if it is the message that its turn answered. */
  beside: string;
  /** The calls of its turn, if it is the first reply; as JSON in `json`. */
  calls: readonly ModelMessage[];
  json: string;
}

/** Each message with what its turn stored. */
function itemsOf(rows: readonly HistoryRow[], hasTools: boolean): HistoryItem[] {
  const byTurn = new Map<string, TurnTranscript>();
  for (const { turn_id: turnId, transcript } of rows) {
    if (turnId !== null && transcript !== null) byTurn.set(turnId, transcriptOfTurn(transcript));
  }
  const answered = new Map(rows.flatMap(({ turn_id: id, role, seq }) => (id && role === 'user' ? [[id, seq]] : [])));
  return rows.map((row) => {
    const transcript =
      row.transcript !== null ? transcriptOfTurn(row.transcript) : (byTurn.get(row.turn_id ?? '') ?? null);
    const calls = hasTools && row.transcript !== null ? (transcript?.messages ?? []) : [];
    const isAnswered = row.turn_id !== null && answered.get(row.turn_id) === row.seq;
    const beside = isAnswered ? (transcript?.beside ?? '') : '';
    return { row, transcript, beside, calls, json: calls.length > 0 ? JSON.stringify(calls) : '' };
  });
}

/** A message of the conversation with the calls before it. The history has both or neither. */
interface HistoryEntry {
  seq: number;
  role: 'user' | 'assistant';
  content: string;
  beside: string;
  messages: ModelMessage[];
}

/**
 * The messages of a conversation as they are shown, from where `shown` says. Calls longer than `most` as JSON have shorter results, so that
 * they do not displace messages, and are left out when that is not enough. Where the text beside the calls is shown with them, the reply is what the model said after the last one.
 */
function entriesOf(items: readonly HistoryItem[], shown: ShownFrom, most: number): HistoryEntry[] {
  /** The turns whose replies are shown as what the model said. */
  const said = new Set<string>();
  return items.flatMap(({ row, transcript, calls, json, ...item }): HistoryEntry[] => {
    const { seq, role } = row;
    const text = withAttachmentNotes(row.content, row.attachments);
    if (role === 'user') {
      const beside = seq >= shown.wholeFrom ? item.beside : '';
      const own = withoutTurnContext(text);
      return [{ seq, role, content: own + beside, beside, messages: [userMessage(text, [], beside)] }];
    }
    if (row.turn_id !== null && row.author === null && said.has(row.turn_id)) return [];
    const reply = row.author === 'operator' ? writtenByPerson(text) : text;
    const own = { role, content: reply };
    const plain = { seq, role, content: reply, beside: '', messages: [own] };
    if (calls.length === 0 || seq < shown.callsFrom) return [plain];
    const kept = shownWithin(calls, { json, isWhole: seq >= shown.wholeFrom, most });
    if (kept === undefined) return [plain];
    const last = transcript?.reply ?? null;
    if (last === null)
      return [{ ...plain, content: reply + kept.json, messages: [...kept.messages.map(withoutText), own] }];
    said.add(row.turn_id ?? '');
    return [{ ...plain, content: last + kept.json, messages: [...kept.messages, { role, content: last }] }];
  });
}

/** The history of a turn. */
export interface TurnHistory {
  /** Oldest first. */
  messages: ModelMessage[];
  /** From where on it is shown. */
  shown: ShownFrom;
  /** What stood beside the messages that are shown, oldest first. */
  besides: string[];
}

/**
 * The earlier messages that fit the model's window beside the system prompt, the tools and the newest message. They begin where they began
 * in the turn before, as long as that fits. Calls of earlier turns are included when the agent has tools: without tools, providers refuse
 * requests with calls.
 */
export async function historyMessages(
  rows: readonly HistoryRow[],
  newest: { text: string; attachments: readonly ResolvedAttachment[]; beside: string },
  { model, system, tools }: { model: ModelDescriptor; system: string; tools: readonly unknown[] },
): Promise<TurnHistory> {
  const { contextWindow: window } = model;
  const items = itemsOf(rows, tools.length > 0);
  const last = items.findLast(({ transcript }) => transcript?.shown)?.transcript?.shown ?? null;
  const extents = items.map(({ row: { seq, role }, beside, json }) => ({
    seq,
    isOfUser: role === 'user',
    extra: json.length + beside.length,
  }));
  const shown: ShownFrom = { from: startOf(rows, last, window), window, ...wholeFrom(extents, last, window) };
  if (rows.length === 0) return { messages: [], shown, besides: [] };
  const entries = entriesOf(
    items.filter(({ row: { seq } }) => seq >= shown.from),
    shown,
    window * CHARACTERS_OF_CALLS,
  );
  const fitted = await fitHistory({
    contextWindow: window,
    reserveForReply: replyReserve(window),
    systemText: tools.length > 0 ? system + JSON.stringify(tools) : system,
    turns: entries,
    newest: { content: newest.text + newest.beside, attachments: newest.attachments },
    tokenizer: model.provider === 'openai' ? 'o200k' : 'other',
    keptOfFull: KEPT_OF_FULL,
  });
  if (fitted.dropped > 0) shown.from = fitted.messages[0]?.seq ?? (rows.at(-1)?.seq ?? 0) + 1;
  return {
    messages: fitted.messages.flatMap((entry) => entry.messages),
    shown,
    besides: fitted.messages.flatMap(({ beside }) => (beside === '' ? [] : [beside])),
  };
}

/** The oldest message that may be shown: where the turn before began, if its window was the same. */
function startOf(rows: readonly HistoryRow[], last: ShownFrom | null, window: number): number {
  const from = last?.window === window ? last.from : 0;
  const [oldest] = rows;
  // So many messages are read at most: without this, each turn would begin with the next one.
  const isCut = rows.length >= MAX_HISTORY_MESSAGES && oldest !== undefined && from <= oldest.seq;
  return isCut ? (rows[MAX_HISTORY_MESSAGES / 2]?.seq ?? from) : from;
}
