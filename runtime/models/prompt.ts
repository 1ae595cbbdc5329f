import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
} from '@ai-sdk/provider';
import { filesMessage, type ShownFiles, shownResult, type ToolFile } from './toolFiles.ts';

/**
 * A part of a user message. Files have their content, because the run-time fetches addresses itself with the guarded client. `file`: the
 * text is the content of this file.
 */
export type UserPart =
  | (LanguageModelV4TextPart & { file?: { filename: string; mediaType: string; bytes: number } })
  | LanguageModelV4FilePart;

/**
 * A part of an assistant message. Reasoning and the parts' `providerOptions` are specific to the provider: they go back to the same
 * model within a turn, and nowhere else (`withoutProviderParts`).
 */
export type AssistantPart = LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart;

/** The result of a tool call, for the model. It has its files in the turn of the call only. */
export type ToolResultPart = {
  toolCallId: string;
  toolName: string;
  text: string;
  isError: boolean;
  files?: readonly ToolFile[] | undefined;
};

/** A message of a conversation. Plain JSON except for the bytes of files. */
export type ModelMessage =
  | { role: 'user'; content: string | readonly UserPart[] }
  | { role: 'assistant'; content: string | readonly AssistantPart[] }
  /** Follows the assistant message that made the calls, with a result for each. */
  | { role: 'tool'; content: readonly ToolResultPart[] };

const BETWEEN_MESSAGES = '\n\n';

const textPart = (text: string): LanguageModelV4TextPart => ({ type: 'text', text });

/** Marks the part of a user message that the service wrote. Providers ignore options that are not their own. */
const BESIDE: NonNullable<LanguageModelV4TextPart['providerOptions']> = { guildhall: { beside: true } };

/** A part of a user message that the service wrote, and not the user. */
export function besidePart(text: string): LanguageModelV4TextPart {
  return { type: 'text', text, providerOptions: BESIDE };
}

/** Whether a part of a user message was written by the service. */
export function isBeside(part: { type: string; providerOptions?: unknown }): boolean {
  return part.type === 'text' && (part as LanguageModelV4TextPart).providerOptions?.guildhall?.beside === true;
}

/** Replaces a user message of only white space, which providers refuse, also in every later turn. */
const BLANK = textPart('(a blank message)');

/**
 * Whether a part of an assistant message has content. A part without text has some when the provider attached data of its own:
 * encrypted or withheld reasoning, or the signature that Google adds to an empty text at the end.
 */
export function hasContent(part: AssistantPart): boolean {
  if (part.type === 'tool-call') return true;
  if (part.type === 'reasoning') return part.text !== '' || part.providerOptions !== undefined;
  return part.text.trim() !== '' || part.providerOptions?.google?.thoughtSignature !== undefined;
}

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;

const makesCalls = ({ content }: AssistantMessage): boolean => content.some(({ type }) => type === 'tool-call');

/** Merges consecutive messages into one with the parts of all, because some models and servers require alternating roles. */
function joined(before: AssistantMessage, content: AssistantPart[]): AssistantMessage {
  const last = before.content.at(-1);
  const [first, ...rest] = content;
  if (last?.type !== 'text' || first?.type !== 'text' || last.providerOptions || first.providerOptions) {
    return { role: 'assistant', content: [...before.content, ...content] };
  }
  const text = textPart(last.text + BETWEEN_MESSAGES + first.text);
  return { role: 'assistant', content: [...before.content.slice(0, -1), text, ...rest] };
}

/**
 * Builds the provider-level prompt of a conversation. Drops texts and messages without content, because providers refuse them. Merges
 * consecutive assistant messages, and consecutive tool results, because some providers require all results together. Files of tool results
 * are where `shown` says.
 */
export function toPrompt(
  system: string | undefined,
  messages: readonly ModelMessage[],
  shown: ShownFiles = { place: 'nowhere' },
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  let files: LanguageModelV4FilePart[] = [];
  const addFiles = () => {
    if (files.length > 0) prompt.push(filesMessage(files));
    files = [];
  };
  if (system !== undefined && system.trim() !== '') prompt.push({ role: 'system', content: system });
  for (const message of messages) {
    if (message.role !== 'tool') addFiles();
    const last = prompt.at(-1);
    if (message.role === 'tool') {
      const results = message.content.map((result) => shownResult(result, shown));
      const content = results.map(({ part }) => part);
      files.push(...results.flatMap(({ after }) => after));
      if (last?.role === 'tool') prompt[prompt.length - 1] = { role: 'tool', content: [...last.content, ...content] };
      else if (content.length > 0) prompt.push({ role: 'tool', content });
    } else if (message.role === 'assistant') {
      const parts = typeof message.content === 'string' ? [textPart(message.content)] : message.content;
      const content = parts.filter(hasContent);
      if (content.length === 0) continue;
      if (last?.role === 'assistant' && !makesCalls(last)) prompt[prompt.length - 1] = joined(last, content);
      else prompt.push({ role: 'assistant', content });
    } else {
      const parts = typeof message.content === 'string' ? [textPart(message.content)] : message.content;
      const content = parts.filter((part) => part.type === 'file' || part.text.trim() !== '');
      const own = parts.filter((part) => !isBeside(part));
      const isBlank = content.every(isBeside) && own.some((part) => part.type === 'text' && part.text !== '');
      if (isBlank) content.unshift(BLANK);
      if (content.length > 0) prompt.push({ role: 'user', content });
    }
  }
  addFiles();
  return prompt;
}

/** Joins the texts of user messages that have nothing else: many compatible servers take a text only, and no list of parts. */
export function withJoinedTexts(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role !== 'user' || message.content.length < 2) return message;
    const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    if (texts.length < message.content.length) return message;
    return { role: 'user', content: [textPart(texts.join(BETWEEN_MESSAGES))] };
  });
}

/** The ids of calls that Anthropic accepts, and OpenAI's maximum length. */
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Replaces ids of calls from another model's server by ids that every provider accepts. The same id always gives the same result. */
export function withPlainIds(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const plain = <Part extends { toolCallId: string }>(part: Part): Part =>
    PLAIN_ID.test(part.toolCallId)
      ? part
      : { ...part, toolCallId: part.toolCallId.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-64) || 'call' };
  return prompt.map((message) => {
    if (message.role !== 'assistant' && message.role !== 'tool') return message;
    const content = message.content.map((part) => ('toolCallId' in part ? plain(part) : part));
    return { ...message, content } as LanguageModelV4Message;
  });
}

function withoutOptions(part: AssistantPart): AssistantPart[] {
  if (part.type === 'reasoning') return [];
  const { providerOptions, ...rest } = part;
  return hasContent(rest) ? [rest] : [];
}

/**
 * Returns the messages without reasoning and without provider data, so that any model may see them. Drops messages that become
 * empty. Calls and results stay, with their ids.
 */
export function withoutProviderParts(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role !== 'assistant' || typeof message.content === 'string') return [message];
    const content = message.content.flatMap(withoutOptions);
    return content.length > 0 ? [{ role: 'assistant', content }] : [];
  });
}

type PromptPart = Exclude<LanguageModelV4Prompt[number], { role: 'system' }>['content'][number];

function textOf(part: PromptPart): string[] {
  if (part.type === 'text' || part.type === 'reasoning') return [part.text];
  if (part.type === 'tool-call') return [JSON.stringify(part.input)];
  if (part.type !== 'tool-result') return [];
  const { output } = part;
  if (output.type === 'content') return output.value.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  return output.type === 'text' || output.type === 'error-text' ? [output.value] : [];
}

/** Returns every text of a prompt, with the inputs and outputs of tools. */
export function promptTexts(prompt: LanguageModelV4Prompt): string[] {
  return prompt.flatMap((message) => (message.role === 'system' ? [message.content] : message.content.flatMap(textOf)));
}
