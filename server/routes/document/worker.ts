import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { RenderedDocument, RenderRequest } from './rendering.ts';
import { servedDocument } from './servedDocument.ts';

/** Takes a twentieth of the time of the highest quality, for a tenth more bytes. */
const BROTLI_QUALITY = 9;

async function textOf({ format, origin }: RenderRequest): Promise<string> {
  const bundle = readFileSync(new URL('../../../generated/openapi.json', import.meta.url), 'utf8');
  const document = servedDocument(JSON.parse(bundle), origin);
  if (format === 'json') return JSON.stringify(document);
  const { stringify } = await import('yaml');
  return stringify(document, { aliasDuplicateObjects: false });
}

async function render(request: RenderRequest): Promise<RenderedDocument> {
  const text = Buffer.from(await textOf(request));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  const hash = createHash('sha256').update(text).digest('base64url');
  return { brotli: brotliCompressSync(text, { params }), gzip: gzipSync(text), etag: `W/"${hash}"` };
}

// An error ends the process, which the service notices.
process.once('message', async (request: RenderRequest) => {
  process.send?.(await render(request), () => process.disconnect());
});
