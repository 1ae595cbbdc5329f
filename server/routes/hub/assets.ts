import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const FOLDER = new URL('../../pages/hub/', import.meta.url);
const ONE_YEAR_S = 365 * 24 * 60 * 60;
/** Pages of other sites name the script without a hash, so browsers ask again now and then. */
const LOADER_S = 600;

/** A file that pages of hubs load: the same for all hubs. */
export interface HubAsset {
  body: Buffer;
  mediaType: string;
  caching: string;
}

function load(name: string, mediaType: string, caching: string): HubAsset & { hashed: string } {
  const body = readFileSync(new URL(name, FOLDER));
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return { body, mediaType, caching, hashed: name.replace('.', `.${hash}.`) };
}

const forever = `public, max-age=${ONE_YEAR_S}, immutable`;
const style = load('hub.css', 'text/css; charset=utf-8', forever);
const frame = load('frame.js', 'text/javascript; charset=utf-8', forever);

/** Names of the files, each with a hash of its content: a browser that knows it need not ask again. */
export const hubAssetNames = { style: style.hashed, frame: frame.hashed } as const;

/** The script with which other sites embed the prices. */
export const embedLoader: HubAsset = load('embed.js', 'text/javascript; charset=utf-8', `public, max-age=${LOADER_S}`);

/** The file of this name; undefined when there is none. */
export function hubAsset(name: string): HubAsset | undefined {
  return [style, frame].find(({ hashed }) => hashed === name);
}
