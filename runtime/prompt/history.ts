import type { ResolvedAttachment } from '../files/attachments.ts';
import { countTokens, type TokenCounter } from '../models/tokens.ts';

/** The fields of a message that determine its length. All its other fields are returned unchanged. */
export interface HistoryMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** A conversation, and the context window that it must fit. */
export interface HistoryInput<M extends HistoryMessage> {
  /** Tokens that the model accepts, its reply included; null = unknown, nothing is dropped. */
  contextWindow: number | null;
  /** Tokens kept free for the reply, tool definitions and tool results. */
  reserveForReply: number;
  systemText: string;
  /** Earlier messages of the conversation, oldest first. */
  turns: readonly M[];
  /** The message that is about to be answered. */
  newest: {
    content: string;
    attachments?: readonly Pick<ResolvedAttachment, 'kind' | 'mediaType' | 'sizeBytes' | 'bytes'>[];
  };
  /** `o200k` for OpenAI's models, whose tokens are counted exactly; `other` adds a margin. */
  tokenizer: 'o200k' | 'other';
  /** The share of its room that the history fills when it does not fit whole; 1 if absent. */
  keptOfFull?: number;
  /** Counts the tokens of a text. Tests pass their own function. */
  count?: TokenCounter;
}

/** The part of a conversation that fits. */
export interface FittedHistory<M extends HistoryMessage> {
  /** The messages of `turns` that fit, oldest first. */
  messages: M[];
  /** Messages left out. */
  dropped: number;
}

/** Role, separators and the start of the reply: 3 to 5 tokens a message in the chat formats whose layout is public. */
const MESSAGE_OVERHEAD = 6;
/**
 * What other tokenizers need of the same text, at most, against o200k_base: 1.1 to 1.3 in the providers' own figures for English,
 * code and Western languages. Byte-level tokenizers never need more than a token a byte, which bounds the rest.
 */
const OTHER_TOKENIZERS = 1.35;
/** Flat, the largest of the providers' usual prices of one picture. */
const IMAGE_TOKENS = 1_600;
/** A page is sent as its text and as a picture; Anthropic gives 1,500 to 3,000 tokens a page for the text. */
const PDF_PAGE_TOKENS = 2_500;
const PDF_BYTES_PER_PAGE = 50_000;
const MAX_PDF_PAGES = 1_000;

/**
 * About how many tokens an attachment costs: a flat price per picture; per PDF page, where pages are counted as the file shows
 * them or guessed from its size; a token per three bytes of text. Providers do not publish more than that.
 */
export function estimateAttachmentTokens(
  attachment: Pick<ResolvedAttachment, 'kind' | 'mediaType' | 'sizeBytes' | 'bytes'>,
): number {
  if (attachment.kind === 'image') return IMAGE_TOKENS;
  if (attachment.mediaType !== 'application/pdf') return Math.ceil(attachment.sizeBytes / 3) + MESSAGE_OVERHEAD * 4;
  const text = Buffer.from(attachment.bytes.buffer, attachment.bytes.byteOffset, attachment.bytes.byteLength).toString(
    'latin1',
  );
  let pages = 0;
  for (const _ of text.matchAll(/\/Type\s{0,8}\/Page(?![A-Za-z])/g)) pages += 1;
  // Page objects inside compressed streams cannot be counted. Then only the size is known.
  if (pages === 0) pages = Math.ceil(attachment.sizeBytes / PDF_BYTES_PER_PAGE);
  return Math.min(pages, MAX_PDF_PAGES) * PDF_PAGE_TOKENS;
}

/** Tokens that a text cannot exceed in any byte-level tokenizer: its bytes in UTF-8. */
function bound(text: string): number {
  return Buffer.byteLength(text) + MESSAGE_OVERHEAD;
}

/** A user message and its answers; answers at the very start (a greeting) are a turn of their own. */
function intoTurns<M extends HistoryMessage>(messages: readonly M[]): M[][] {
  const turns: M[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last === undefined || message.role === 'user') turns.push([message]);
    else last.push(message);
  }
  return turns;
}

/**
 * Returns the part of a conversation's history that goes into the prompt: the newest whole turns (a user message with its answers) that fit the
 * context window beside the system text, the newest message and the reply. The oldest turns are dropped first, never one from the middle.
 * When some must be dropped, the rest fills no more than `keptOfFull` of the room, unless the newest turn alone needs more: the next turns
 * then begin in the same way.
 *
 * Tokens are counted only when the bytes do not already prove that everything fits, and then only from the newest turn back to where
 * the window ends. For models that do not use o200k_base the count carries a margin of 35 %, so history is dropped a little early
 * rather than the request refused. System text and newest message are always kept: if they alone are too long, the history
 * is empty and the provider says so.
 */
export async function fitHistory<M extends HistoryMessage>(input: HistoryInput<M>): Promise<FittedHistory<M>> {
  const { contextWindow, turns, newest, systemText } = input;
  if (contextWindow === null) return { messages: [...turns], dropped: 0 };
  const count = input.count ?? countTokens;
  const margin = input.tokenizer === 'o200k' ? 1 : OTHER_TOKENIZERS;
  const attachments = (newest.attachments ?? []).reduce((sum, one) => sum + estimateAttachmentTokens(one), 0);
  let left = contextWindow - input.reserveForReply - attachments;

  const grouped = intoTurns(turns);
  /** Upper bound of each turn together with all older ones. */
  const bounds: number[] = [];
  let sum = 0;
  for (const turn of grouped) {
    for (const { content } of turn) sum += bound(content);
    bounds.push(sum);
  }
  if (sum + bound(systemText) + bound(newest.content) <= left) return { messages: [...turns], dropped: 0 };

  /** Tokens of a text. For a text that exceeds `left`, any number that exceeds it too. */
  const cost = async (text: string): Promise<number> => {
    const most = bound(text);
    const tokens = await count(text, Math.max(0, left));
    return Math.min(most, Math.ceil(tokens * margin) + MESSAGE_OVERHEAD);
  };
  if (left > 0) left -= await cost(systemText);
  if (left > 0) left -= await cost(newest.content);

  const room = left;
  /** Tokens of each turn that is kept, together with the newer ones. */
  const used = new Map<number, number>();
  let first = grouped.length;
  while (first > 0 && left > 0) {
    // As soon as the bytes prove that the rest fits, all of it stays and counting ends.
    if ((bounds[first - 1] ?? 0) <= left) {
      first = 0;
      break;
    }
    for (const { content } of grouped[first - 1] ?? []) {
      if (left >= 0) left -= await cost(content);
    }
    if (left < 0) break;
    first -= 1;
    used.set(first, room - left);
  }
  const most = room * (input.keptOfFull ?? 1);
  while (first > 0 && first < grouped.length - 1 && (used.get(first) ?? 0) > most) first += 1;
  const messages = grouped.slice(first).flat();
  return { messages, dropped: turns.length - messages.length };
}
