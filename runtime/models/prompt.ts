import type { LanguageModelV4FilePart, LanguageModelV4Prompt, LanguageModelV4TextPart } from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import { fault } from '../../core/errors.ts';
import type { ModelDescriptor } from './catalogue.ts';

/** How a file reaches a model: as a file, as text in the message, or not at all. */
export type FileRoute = 'file' | 'text' | 'none';

// What all three providers read; anything else (SVG, HEIC, TIFF) fails at one of them.
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const TEXT = /^(text\/|application\/(json|xml|yaml|x-yaml|x-ndjson|javascript|sql|toml|rtf$|.+\+(json|xml)$))/;

const essence = (mediaType: string): string => (mediaType.split(';')[0] ?? '').trim().toLowerCase();

/**
 * How a file of this media type reaches the model. Text formats become part of the message, because providers disagree
 * about them; PDF goes as a file; office formats go as a file to OpenAI, the only provider that opens them.
 */
export function fileRoute(
  model: Pick<ModelDescriptor, 'provider' | 'supportsImage' | 'supportsDocument'>,
  mediaType: string,
): FileRoute {
  const type = essence(mediaType);
  if (type.startsWith('image/')) return model.supportsImage && IMAGES.has(type) ? 'file' : 'none';
  if (!model.supportsDocument) return 'none';
  if (model.provider === 'builtin') return 'file';
  if (TEXT.test(type)) return 'text';
  if (type === 'application/pdf') return 'file';
  return model.provider === 'openai' && /^application\/(msword|vnd\.)/.test(type) ? 'file' : 'none';
}

type Content = Extract<ModelMessage, { role: 'user' }>['content'];
type UserPart = Exclude<Content, string>[number];
type FileInput = { data: unknown; mediaType: string; filename: string | undefined };

function fileOf(part: UserPart): FileInput | undefined {
  if (part.type === 'image') return { data: part.image, mediaType: part.mediaType ?? 'image/png', filename: undefined };
  if (part.type === 'file') return { data: part.data, mediaType: part.mediaType, filename: part.filename };
  return undefined;
}

const isBytes = (data: unknown): data is Uint8Array | ArrayBuffer =>
  data instanceof Uint8Array || Object.prototype.toString.call(data) === '[object ArrayBuffer]';

/** Bytes or base64 text. Addresses are refused: whoever calls fetches them first, through the guarded client. */
function bytesOrBase64(data: unknown): Uint8Array | string {
  if (isBytes(data)) return data instanceof Uint8Array ? data : new Uint8Array(data);
  if (data !== null && typeof data === 'object' && 'type' in data) {
    if (data.type === 'data' && 'data' in data) return bytesOrBase64(data.data);
    if (data.type === 'text' && 'text' in data && typeof data.text === 'string') return Buffer.from(data.text);
  }
  if (typeof data === 'string' && !/^[a-z][a-z0-9+.-]*:/i.test(data)) return data;
  throw new TypeError('File parts need their content as bytes or base64 text.');
}

function asText(data: Uint8Array | string): string {
  return Buffer.from(typeof data === 'string' ? Buffer.from(data, 'base64') : data)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

function filePart(
  model: ModelDescriptor,
  file: FileInput,
  current: boolean,
): LanguageModelV4TextPart | LanguageModelV4FilePart {
  const route = fileRoute(model, file.mediaType);
  const name = file.filename ?? 'attachment';
  if (route === 'none') {
    // An earlier attachment may predate a change of the agent's model: the conversation must go on without it.
    if (!current) return { type: 'text', text: `[${name}: ${file.mediaType}, left out]` };
    throw fault('UNSUPPORTED_ATTACHMENT', `${model.name} cannot take attachments of type ${essence(file.mediaType)}.`);
  }
  const data = bytesOrBase64(file.data);
  if (route === 'text') return { type: 'text', text: `Attachment "${name}":\n${asText(data)}` };
  return {
    type: 'file',
    mediaType: essence(file.mediaType),
    data: { type: 'data', data },
    ...(file.filename === undefined ? {} : { filename: file.filename }),
  };
}

/**
 * The provider-level prompt for a conversation. Images and documents that the model cannot take are refused with
 * UNSUPPORTED_ATTACHMENT in the last user message and left out, with a note, in earlier ones. Messages without any
 * content are dropped, because providers refuse them.
 */
export function toPrompt(model: ModelDescriptor, system: string | undefined, messages: readonly ModelMessage[]) {
  const prompt: LanguageModelV4Prompt = [];
  if (system !== undefined && system.trim() !== '') prompt.push({ role: 'system', content: system });
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      const parts = typeof message.content === 'string' ? [textPart(message.content)] : message.content;
      const content = parts.flatMap((part) => {
        const file = fileOf(part);
        if (file !== undefined) return filePart(model, file, index === lastUser);
        return part.type === 'text' && part.text !== '' ? textPart(part.text) : [];
      });
      if (content.length > 0) prompt.push({ role: 'user', content });
    } else if (message.role === 'assistant') {
      const parts = typeof message.content === 'string' ? [textPart(message.content)] : message.content;
      const content = parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? textPart(part.text) : []));
      if (content.length > 0) prompt.push({ role: 'assistant', content });
    } else {
      throw new TypeError(`Messages of role ${message.role} are not supported here.`);
    }
  }
  return prompt;
}

const textPart = (text: string): LanguageModelV4TextPart => ({ type: 'text', text });
