import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isBeside } from '../prompt.ts';

/** A call of a tool, with its result. */
export type MadeCall = { name: string; result: { text: string; isError: boolean } | undefined };

/** The parts of a prompt that the built-in model uses. */
export type ParsedPrompt = {
  system: string;
  /** What the service wrote beside the user messages, the newest first: of passages that are quoted already, only the place is said again. */
  besides: string[];
  /** Texts of the user messages, in order; '' for one without text. */
  said: string[];
  /** Attachments of the last user message, each with name and media type. */
  attachments: string[];
  /** Number of messages other than the last user message. */
  others: number;
  /** The calls since the last user message, one list for each step. */
  steps: MadeCall[][];
};

type Message = LanguageModelV4Prompt[number];
type Part = Exclude<Message, { role: 'system' }>['content'][number];

function textOf(content: readonly Part[]): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function attachmentsOf(content: readonly Part[]): string[] {
  return content.flatMap((part) => {
    if (part.type !== 'file') return [];
    return [part.filename === undefined ? part.mediaType : `${part.filename}, ${part.mediaType}`];
  });
}

function resultsOf(message: Message | undefined): Map<string, NonNullable<MadeCall['result']>> {
  const results = new Map<string, NonNullable<MadeCall['result']>>();
  if (message?.role !== 'tool') return results;
  for (const part of message.content) {
    if (part.type !== 'tool-result') continue;
    const { output } = part;
    // prompt.ts makes no other types.
    const text = output.type === 'text' || output.type === 'error-text' ? output.value : '';
    results.set(part.toolCallId, { text, isError: output.type === 'error-text' });
  }
  return results;
}

/** Parses a prompt. */
export function parsePrompt(prompt: LanguageModelV4Prompt): ParsedPrompt {
  const lastUser = prompt.findLastIndex(({ role }) => role === 'user');
  const seen: ParsedPrompt = { system: '', besides: [], said: [], attachments: [], others: 0, steps: [] };
  for (const [at, message] of prompt.entries()) {
    if (message.role === 'system') {
      seen.system += message.content;
      continue;
    }
    if (at !== lastUser) seen.others += 1;
    if (message.role === 'user') {
      seen.said.push(textOf(message.content.filter((part) => !isBeside(part))));
      const beside = textOf(message.content.filter(isBeside));
      if (beside !== '') seen.besides.unshift(beside);
      seen.attachments = attachmentsOf(message.content);
    } else if (message.role === 'assistant' && at > lastUser) {
      const results = resultsOf(prompt[at + 1]);
      const calls = message.content.flatMap((part) =>
        part.type === 'tool-call' ? [{ name: part.toolName, result: results.get(part.toolCallId) }] : [],
      );
      if (calls.length > 0) seen.steps.push(calls);
    }
  }
  return seen;
}
