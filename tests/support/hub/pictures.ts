import { crc32, deflateSync } from 'node:zlib';
import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../http/app.ts';

type Hub = components['schemas']['Hub'];

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, crc]);
}

/** A PNG of one pixel in this shade of grey. */
export function pngOf(shade: number): Buffer {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, shade]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The first bytes of a JPEG and of a WebP: more is not looked at. */
export const JPEG: Buffer = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
export const WEBP: Buffer = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex');

/** An SVG with this content. */
export const svgOf = (content = '', attributes = ''): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="100" ${attributes}>${content}</svg>`,
  );

/** Uploads a logo. */
export function uploadLogo(app: TestApp, type: string, content: Buffer, key?: string, name = 'logo') {
  return app.api('post', `/hub/logos/${type}`, key).attach('file', content, name);
}

/** The path of a logo's address. */
export function pathOf(url: Hub['logoIconUrl']): string {
  return new URL(url ?? '').pathname;
}
