import type { LanguageModelV4FilePart, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { ModelDescriptor } from './catalogue.ts';
import type { ModelMessage, ToolResultPart } from './prompt.ts';

/** A file of a tool's result. Its type is what its bytes say. */
export interface ToolFile {
  mediaType: string;
  bytes: Uint8Array;
}

/**
 * Where a model is shown the images of tool results: within the result, in a message of the user after all results, or nowhere. Chat
 * completions take images in messages of users only (platform.openai.com/docs/api-reference/chat, tool messages).
 */
export type ShownFiles = { place: 'result' | 'message'; mediaTypes: ReadonlySet<string> } | { place: 'nowhere' };

type FileText = { text: string; files?: readonly ToolFile[] | undefined };

const PNG_JPEG_WEBP = ['image/png', 'image/jpeg', 'image/webp'];
const WITH_GIF: ReadonlySet<string> = new Set([...PNG_JPEG_WEBP, 'image/gif']);

/** Of all results that a model is shown: Anthropic takes 100 images and 32 MB, Google 20 MB. */
const MAX_IMAGES = 12;
const MAX_IMAGE_BYTES = 12 * 1024 * 1024;
/** What a large image costs with the providers that say so, and the share of the window that images may fill. */
const TOKENS_OF_IMAGE = 1_600;
const MAX_SHARE = 0.25;
/** Images are left out in strides, so that requests in a row begin alike and can be cached. */
const STRIDE = 4;

const NOT_SEEN = '[The images of this result are not shown: you read text only.]';
const NOT_THIS_TYPE = '[Some images of this result are not shown: you cannot read their type.]';
const BELOW = '[The images of this result are in the message after the results.]';
const HERE = 'The images of the results above, in their order:';

/** Stands in place of the images of a result that makes room for newer ones. */
export const MADE_ROOM =
  '[The images of this result are not shown any more, to make room. Call the tool again if they are needed.]';
/** Stands in place of the images in later turns and where a run continues from what was stored. */
export const NOT_KEPT = '[The images of this result were not kept. Call the tool again if they are needed.]';
/** Stands in place of images with which the provider refused the request. */
export const REFUSED = '[The images of this result are not shown: the provider of the model did not take them.]';

/** How a model is shown the images of tool results. */
export function shownFiles({
  provider,
  supportsImage,
}: Pick<ModelDescriptor, 'provider' | 'supportsImage'>): ShownFiles {
  if (!supportsImage || provider === 'builtin') return { place: 'nowhere' };
  // Google takes no GIF (ai.google.dev/gemini-api/docs/image-understanding, supported formats).
  if (provider === 'google') return { place: 'result', mediaTypes: new Set(PNG_JPEG_WEBP) };
  return { place: provider === 'openai-compatible' ? 'message' : 'result', mediaTypes: WITH_GIF };
}

/** A result without its files; `note` says so in its text. Results without files are returned as they are. */
export function withoutFiles<Result extends FileText>(result: Result, note: string): Omit<Result, 'files'> {
  const { files = [], ...rest } = result;
  return files.length === 0 ? rest : { ...rest, text: `${rest.text}\n${note}` };
}

/** The messages without the files of tool results. */
export function withoutToolFiles(messages: readonly ModelMessage[], note: string): ModelMessage[] {
  return messages.map((message) =>
    message.role === 'tool'
      ? { ...message, content: message.content.map((each) => withoutFiles(each, note)) }
      : message,
  );
}

/** Whether a result of a tool has a file. */
export const hasToolFiles = (messages: readonly ModelMessage[]): boolean =>
  messages.some(({ role, content }) => role === 'tool' && content.some(({ files = [] }) => files.length > 0));

/**
 * The messages with at most 12 images and 12 MiB in the results of tools, and fewer for a small window. The oldest make room, four at a
 * time.
 */
export function withinFileLimits(messages: readonly ModelMessage[], contextWindow: number): ModelMessage[] {
  const most = Math.min(MAX_IMAGES, Math.max(1, Math.floor((contextWindow * MAX_SHARE) / TOKENS_OF_IMAGE)));
  const sizes = messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap(({ files = [] }) => files.map(({ bytes }) => bytes.byteLength))
      : [],
  );
  let bytes = sizes.reduce((sum, size) => sum + size, 0);
  let first = 0;
  while (sizes.length - first > most || bytes > MAX_IMAGE_BYTES) {
    for (const size of sizes.slice(first, first + STRIDE)) bytes -= size;
    first += STRIDE;
  }
  if (first === 0) return [...messages];
  let place = 0;
  return messages.map((message) => {
    if (message.role !== 'tool') return message;
    const content = message.content.map((result) => {
      const from = place;
      place += result.files?.length ?? 0;
      return from < first ? withoutFiles(result, MADE_ROOM) : result;
    });
    return { ...message, content };
  });
}

const filePart = ({ mediaType, bytes }: ToolFile): LanguageModelV4FilePart => ({
  type: 'file',
  mediaType,
  data: { type: 'data', data: bytes },
});

/** The result of a call at the provider's level, and its files that stand in a message after the results. */
export function shownResult(
  { toolCallId, toolName, text, isError, files = [] }: ToolResultPart,
  shown: ShownFiles,
): { part: LanguageModelV4ToolResultPart; after: LanguageModelV4FilePart[] } {
  const plain = (value: string): LanguageModelV4ToolResultPart => ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output: { type: isError ? 'error-text' : 'text', value },
  });
  if (files.length === 0) return { part: plain(text), after: [] };
  if (shown.place === 'nowhere') return { part: plain(`${text}\n${NOT_SEEN}`), after: [] };
  const seen = files.filter(({ mediaType }) => shown.mediaTypes.has(mediaType)).map(filePart);
  const said = seen.length < files.length ? `${text}\n${NOT_THIS_TYPE}` : text;
  if (seen.length === 0) return { part: plain(said), after: [] };
  // A failure is told by the type of its output, which has no place for files.
  if (shown.place === 'message' || isError) return { part: plain(`${said}\n${BELOW}`), after: seen };
  // One text, and first: with Google each text would be a result of its own.
  const output = { type: 'content' as const, value: [{ type: 'text' as const, text: said }, ...seen] };
  return { part: { type: 'tool-result', toolCallId, toolName, output }, after: [] };
}

/** The message of a user with the files of the results before it. */
export const filesMessage = (files: LanguageModelV4FilePart[]) => ({
  role: 'user' as const,
  content: [{ type: 'text' as const, text: HERE }, ...files],
});
