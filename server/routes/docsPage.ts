import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import express, { type Router } from 'express';
import { chooseEncoding, sendUnzipped } from './encoding.ts';

const FOLDER = new URL('../pages/docs/', import.meta.url);
const PAGE = new URL('../pages/docs/index.html', import.meta.url);
const SCALAR = new URL('scalar/', FOLDER);
const ONE_YEAR_S = 365 * 24 * 60 * 60;
const FOREVER = `public, max-age=${ONE_YEAR_S}, immutable`;

/** The page may load and call this service only, whatever Scalar would like to. Scalar and its editor write style elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A file of the page that is small enough to be kept. */
interface SmallFile {
  /** Has a hash of the content in it: a browser that knows the address need not ask again. */
  path: string;
  mediaType: string;
  body: Buffer;
}

function smallFile(name: string, mediaType: string): SmallFile {
  const body = readFileSync(new URL(name, FOLDER));
  return { path: hashed(name, createHash('sha256').update(body).digest('hex')), mediaType, body };
}

/** `start.js` and a hash as `/docs/start.0123456789ab.js`. */
function hashed(name: string, sha256: string): string {
  return `/docs/${name.replace('.', `.${sha256.slice(0, 12)}.`)}`;
}

/** `/docs`, the API reference: Scalar's one script over `/openapi.json`, all from this origin. */
export function docsPage(): Router {
  const files = [smallFile('start.js', 'text/javascript'), smallFile('favicon.svg', 'image/svg+xml')];
  const { sha256 } = JSON.parse(readFileSync(new URL('source.json', SCALAR), 'utf8')) as { sha256: string };
  const scalar = hashed('scalar.js', sha256);
  const paths = new Map(
    [...files.map(({ path }) => path), scalar].map((path) => [path.replace(/\.[0-9a-f]{12}/, ''), path]),
  );
  const html = readFileSync(PAGE, 'utf8');
  const page = html.replaceAll(/(?<=")\/docs\/[a-z.]+(?=")/g, (path) => paths.get(path) ?? path);
  const etag = `W/"${createHash('sha256').update(page).digest('base64url')}"`;

  const router = express.Router();
  router.use('/docs', (_request, response, next) => {
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    next();
  });
  router.get('/docs', (_request, response) => {
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', etag);
    response.type('html').send(page);
  });
  for (const { path, mediaType, body } of files)
    router.get(path, (_request, response) => {
      response.setHeader('Cache-Control', FOREVER);
      response.type(mediaType).send(body);
    });
  router.get(scalar, async (request, response) => {
    response.setHeader('Cache-Control', FOREVER);
    response.type('text/javascript');
    const encoding = chooseEncoding(request, response);
    const root = fileURLToPath(SCALAR);
    const options = { root, cacheControl: false, lastModified: false };
    if (encoding) response.sendFile(`standalone.js.${encoding === 'br' ? 'br' : 'gz'}`, options);
    else await sendUnzipped(request, response, createReadStream(new URL('standalone.js.gz', SCALAR)));
  });
  router.get('/docs/licenses.txt', (_request, response) => {
    response.sendFile('LICENSES.txt', { root: fileURLToPath(SCALAR) });
  });
  return router;
}
