import type { LanguageModelV4FilePart, LanguageModelV4Prompt, LanguageModelV4TextPart } from '@ai-sdk/provider';

/** A part of what a user says. Files carry their content: the run-time fetches addresses itself, through the guarded client. */
export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** A message of a conversation, as the run-time has it. */
export type ModelMessage =
  | { role: 'user'; content: string | readonly UserPart[] }
  | { role: 'assistant'; content: string };

/** The provider-level prompt of a conversation. Texts and messages without any content are dropped, because providers refuse them. */
export function toPrompt(system: string | undefined, messages: readonly ModelMessage[]): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  if (system !== undefined && system.trim() !== '') prompt.push({ role: 'system', content: system });
  for (const message of messages) {
    if (message.role === 'assistant') {
      if (message.content !== '') prompt.push({ role: 'assistant', content: [textPart(message.content)] });
    } else {
      const parts = typeof message.content === 'string' ? [textPart(message.content)] : message.content;
      const content = parts.filter((part) => part.type === 'file' || part.text !== '');
      if (content.length > 0) prompt.push({ role: 'user', content });
    }
  }
  return prompt;
}

const textPart = (text: string): LanguageModelV4TextPart => ({ type: 'text', text });
