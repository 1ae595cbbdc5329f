import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import express, { type Response, type Router } from 'express';
import { escapeXml } from '../../../core/text.ts';
import type { ChatPageRow } from '../../../db/queries/channels/chatPages.ts';
import { chooseEncoding } from '../encoding.ts';
import { allowedOriginsOf, chatConfigOf } from './visit.ts';

const FOLDER = new URL('../../pages/chat/bundle/', import.meta.url);
const PAGE = new URL('../../pages/chat/page.html', import.meta.url);
const ONE_YEAR_S = 365 * 24 * 60 * 60;
/** Pages of other sites name the script without a hash, so browsers ask again now and then. */
const LOADER_S = 600;
const DEFAULT_COLOR = '#3d4fd6';

/**
 * The page runs its own script only, and may call this service only. Pictures of components may come from anywhere by https. No text
 * ever becomes HTML or a script: browsers that know Trusted Types see to it.
 */
const policyOf = (origins: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data: https:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    `frame-ancestors ${origins.length > 0 ? origins.join(' ') : "'none'"}`,
  ].join('; ');

/** A file of the page, in each encoding; packed when it is first asked for. */
interface Asset {
  name: string;
  mediaType: string;
  body: Buffer;
  hash: string;
  packed: { br?: Promise<Buffer>; gzip?: Promise<Buffer> };
}

function asset(name: string, mediaType: string): Asset {
  const body = readFileSync(new URL(name, FOLDER));
  return { name, mediaType, body, hash: createHash('sha256').update(body).digest('hex').slice(0, 12), packed: {} };
}

const assets = {
  script: asset('page.js', 'text/javascript'),
  style: asset('page.css', 'text/css'),
  loader: asset('embed.js', 'text/javascript'),
};
const template = readFileSync(PAGE, 'utf8');

/** The name of an asset with a hash of its content: a browser that knows it need not ask again. */
function hashedName({ name, hash }: Asset): string {
  return name.replace('.', `.${hash}.`);
}

/** The files of the page, and the script that embeds it. */
export function chatAssets(): Router {
  const router = express.Router();
  const send = (which: Asset, caching: string) => async (request: express.Request, response: Response) => {
    response.setHeader('Cache-Control', caching);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    response.type(which.mediaType);
    const encoding = chooseEncoding(request, response);
    if (!encoding) return void response.send(which.body);
    which.packed[encoding] ??= promisify(encoding === 'br' ? brotliCompress : gzip)(which.body);
    response.send(await which.packed[encoding]);
  };
  const forever = `public, max-age=${ONE_YEAR_S}, immutable`;
  for (const each of [assets.script, assets.style]) router.get(`/${hashedName(each)}`, send(each, forever));
  router.get('/embed.js', send(assets.loader, `public, max-age=${LOADER_S}`));
  router.get('/licenses.txt', (_request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.type('text/plain').send(readFileSync(new URL('licenses.txt', FOLDER)));
  });
  return router;
}

/** What a chat looks like: its title and its colour. */
export function settingsOf(page: ChatPageRow): { title: string; primaryColor: string } {
  const { title = page.agent_name, primaryColor = DEFAULT_COLOR } = chatConfigOf(page);
  return { title, primaryColor };
}

/** Sends the page of a connection. What the operator wrote stands in attributes, where it is text and nothing else. */
export function sendPage(page: ChatPageRow, response: Response): void {
  const { title, primaryColor } = settingsOf(page);
  const { welcomeMessage = '' } = chatConfigOf(page);
  const origins = allowedOriginsOf(page);
  const values: Readonly<Record<string, string>> = {
    title,
    script: hashedName(assets.script),
    style: hashedName(assets.style),
    config: JSON.stringify({ connection: page.id, title, welcomeMessage, primaryColor, origins }),
  };
  const html = template.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: string) => escapeXml(values[name] ?? ''));
  response.setHeader('Content-Security-Policy', policyOf(origins));
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=()');
  response.setHeader('Cache-Control', 'no-cache');
  response.type('html').send(html);
}
