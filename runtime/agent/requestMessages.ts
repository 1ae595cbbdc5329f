import type {
  StoredFileNote,
  StoredRequestMessage,
  StoredRequestPart,
  StoredRequestResult,
} from '../../db/stored/stepRequest.ts';
import {
  type AssistantPart,
  isBeside,
  type ModelMessage,
  type ToolResultPart,
  type UserPart,
} from '../models/prompt.ts';

/**
 * What is stored of a message: the message, and apart from it what the service put beside it, since later turns have the message alone. At least
 * one. Texts are not copied; files become notes of their name, kind and size.
 */
export function loggedMessages(message: ModelMessage): StoredRequestMessage[] {
  if (message.role === 'tool') return [{ role: 'tool', content: message.content.map(storedResult) }];
  const { role, content } = message;
  if (typeof content === 'string') return [{ role, content }];
  const beside = content.filter(isBeside).map((part): StoredRequestMessage => ({ role: 'user', beside: textOf(part) }));
  const parts = content.filter((part) => !isBeside(part)).map(storedPart);
  const [only, ...others] = parts;
  if (role === 'user' && only?.type === 'text' && others.length === 0) return [{ role, content: only.text }, ...beside];
  return parts.length > 0 || beside.length === 0 ? [{ role, content: parts }, ...beside] : beside;
}

const textOf = (part: UserPart | AssistantPart): string => ('text' in part ? part.text : '');

function storedPart(part: UserPart | AssistantPart): StoredRequestPart {
  switch (part.type) {
    case 'text':
      return 'file' in part && part.file ? fileNote(part.file) : { type: 'text', text: part.text };
    case 'reasoning':
      return { type: 'reasoning', text: part.text };
    case 'tool-call': {
      const { type, toolCallId, toolName, input } = part;
      return { type, toolCallId, toolName, input };
    }
    case 'file': {
      const { data, filename, mediaType } = part;
      const content = data.type === 'data' ? data.data : undefined;
      return fileNote({ filename, mediaType, bytes: content?.length });
    }
  }
}

function storedResult(result: ToolResultPart): StoredRequestResult {
  const { toolCallId, toolName, text, isError, files = [] } = result;
  const notes = files.map(({ mediaType, bytes }) => fileNote({ mediaType, bytes: bytes.byteLength }));
  return { toolCallId, toolName, text, isError, ...(notes.length > 0 ? { files: notes } : {}) };
}

const fileNote = (file: {
  filename?: string | undefined;
  mediaType: string;
  bytes: number | undefined;
}): StoredFileNote => ({
  type: 'file',
  name: file.filename ?? null,
  mediaType: file.mediaType,
  bytes: file.bytes ?? null,
});
