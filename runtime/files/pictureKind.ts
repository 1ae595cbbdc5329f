import type { PictureExtension } from './publicFiles.ts';
import { readHead } from './readHead.ts';

/** Before the root element of an SVG there are a declaration and comments, no more. */
const HEAD_BYTES = 64 * 1024;
const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
const EXTENSIONS: Readonly<Record<string, PictureExtension>> = {
  'image/png': 'png',
  'image/apng': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

/** What the picture in a file is, by its bytes; undefined when it is none of these. */
export async function pictureKind(path: string): Promise<PictureExtension | undefined> {
  const head = await readHead(path, HEAD_BYTES);
  // Loaded at the first picture, to keep its tables out of an idle service.
  const { fileTypeFromBuffer } = await import('file-type');
  const mediaType = (await fileTypeFromBuffer(head))?.mime;
  if (mediaType !== undefined && Object.hasOwn(EXTENSIONS, mediaType)) return EXTENSIONS[mediaType];
  // A text: what it begins with has no magic number, or that of XML.
  const isText = mediaType === undefined || /xml/.test(mediaType);
  return isText && (await isSvg(head)) ? 'svg' : undefined;
}

/**
 * Whether a file begins as an SVG: UTF-8, and nothing but a declaration and comments before a root element `svg` of the SVG namespace. A file
 * that declares entities does not: no browser needs them, and they are there to grow or to be fetched.
 */
async function isSvg(head: Buffer): Promise<boolean> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  const { Parser } = await import('htmlparser2');
  let found: boolean | undefined;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const [prefix, local] = name.includes(':') ? name.split(':') : ['', name];
        found ??= local === 'svg' && attributes[prefix ? `xmlns:${prefix}` : 'xmlns'] === SVG_NAMESPACE;
        parser.pause();
      },
      ontext(data) {
        if (data.trim() !== '') found ??= false;
      },
    },
    { xmlMode: true, decodeEntities: false },
  );
  parser.write(text);
  return found ?? false;
}
