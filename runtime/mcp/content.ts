import { ownTurn } from '../../core/ownTurn.ts';
import { shorten } from '../../core/text.ts';
import type { ToolFile } from '../models/toolFiles.ts';

/** What a server sent as content: all of it in words, and the images that models can be shown. */
export interface McpContent {
  /** A line for each part that is not text. */
  text: string;
  /** PNG, JPEG, WebP and GIF; at most four. */
  files: ToolFile[];
  /** Whether a part is text of the server, in which it says what it found. */
  hasText: boolean;
}

const MAX_IMAGES = 4;
/** Images of a result whose bytes are looked at, which takes time. */
const MAX_LOOKED_AT = 20;
/** Anthropic takes 5 MB of an image as base64 (docs.claude.com/en/docs/build-with-claude/vision). */
const MAX_IMAGE_BYTES = 3_750_000;
const MAX_LABEL = 500;
/** The types that the providers of models take. An animated PNG is a PNG. */
const SHOWN: Readonly<Record<string, string>> = {
  'image/png': 'image/png',
  'image/apng': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/gif': 'image/gif',
};
/** The magic numbers of images are in the first bytes. A detection that reads on would follow a hostile file. */
const HEAD_BYTES = 4096;

type Part = Record<string, unknown>;

/** What a server sent where a text should stand; '' for an object or a list, of which no text can be made in every case. */
export const statedText = (value: unknown): string =>
  typeof value === 'object' || value === undefined ? '' : String(value);
const label = (value: unknown): string => shorten(statedText(value), MAX_LABEL);
const sizeOf = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Bytes that a base64 text stands for. */
const decodedSize = (base64: string): number => Math.floor((base64.length * 3) / 4);

/** What an image is by its bytes; undefined when they are of none that models take. */
async function imageType(head: Uint8Array): Promise<string | undefined> {
  // Loaded at the first image, to keep its tables out of an idle service.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  return SHOWN[found?.mime ?? ''];
}

class ContentReader {
  readonly files: ToolFile[] = [];
  hasText = false;
  #lookedAt = 0;

  async line(part: unknown): Promise<string> {
    const { type, text, mimeType, uri, name, data, resource } = Object(part) as Part;
    switch (type) {
      case 'text':
        this.hasText ||= statedText(text).trim() !== '';
        return statedText(text);
      case 'image':
        return this.#image(data, mimeType);
      case 'audio':
        return `[audio ${label(mimeType)}, ${sizeOf(decodedSize(statedText(data)))}, which is not played to you]`;
      case 'resource_link':
        return `[resource ${label(name ?? 'without a name')}: ${label(uri)}]`;
      case 'resource':
        return this.resource(resource);
      default:
        return `[${label(type ?? 'content')} ${label(mimeType)}]`;
    }
  }

  /** The contents of a resource: its text, or what it is. */
  async resource(resource: unknown): Promise<string> {
    const { uri, text, blob, mimeType } = Object(resource) as Part;
    if (typeof text === 'string') {
      this.hasText = true;
      return text;
    }
    if (typeof blob !== 'string') return `[resource ${label(uri)}]`;
    if (statedText(mimeType).startsWith('image/'))
      return `[resource ${label(uri)}]\n${await this.#image(blob, mimeType)}`;
    return `[resource ${label(uri)}: ${label(mimeType ?? 'bytes')}, ${sizeOf(decodedSize(blob))}, which is not text]`;
  }

  async #image(data: unknown, declared: unknown): Promise<string> {
    const base64 = typeof data === 'string' ? data : '';
    const size = decodedSize(base64);
    const what = `${label(declared ?? 'of no type')}, ${sizeOf(size)}`;
    if (size > MAX_IMAGE_BYTES) return `[image ${what}, which is too large to be shown]`;
    if (this.files.length >= MAX_IMAGES)
      return `[image ${what}, which is not shown: there are more than ${MAX_IMAGES}]`;
    if (this.#lookedAt >= MAX_LOOKED_AT) return `[image ${what}, which is not shown: there are too many]`;
    this.#lookedAt += 1;
    await ownTurn();
    const head = Buffer.from(base64.slice(0, 2 * HEAD_BYTES), 'base64');
    const mediaType = await imageType(new Uint8Array(head.subarray(0, HEAD_BYTES)));
    if (mediaType === undefined) return `[image ${what}, which is not shown: its bytes are not PNG, JPEG, WebP or GIF]`;
    const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
    this.files.push({ mediaType, bytes });
    return `[image ${this.files.length}: ${mediaType}, ${sizeOf(bytes.byteLength)}]`;
  }
}

/**
 * Reads the content of a tool's result (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result). The type of an
 * image is what its bytes say, whatever the server says.
 */
export async function readContent(parts: readonly unknown[]): Promise<McpContent> {
  const reader = new ContentReader();
  const lines: string[] = [];
  for (const part of parts) lines.push(await reader.line(part));
  return { text: lines.join('\n'), files: reader.files, hasText: reader.hasText };
}

/** Reads the contents of a resource (https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-contents). */
export async function readResourceContents(contents: readonly unknown[]): Promise<McpContent> {
  const reader = new ContentReader();
  const lines: string[] = [];
  for (const each of contents) lines.push(await reader.resource(each));
  return { text: lines.join('\n'), files: reader.files, hasText: reader.hasText };
}
