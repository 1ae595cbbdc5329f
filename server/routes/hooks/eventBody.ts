import type { IncomingHttpHeaders } from 'node:http';
import { fault, invalid } from '../../../core/errors.ts';
import { boundPassed } from '../../../core/jsonBounds.ts';
import { ownTurn } from '../../../core/ownTurn.ts';
import { isStorable } from '../../../core/text.ts';

/** What a sender sent, as it is stored and quoted to the model. */
export interface EventBody {
  /** The media type, without parameters. */
  contentType: string;
  text: string;
}

/** Bytes of a body that takes some milliseconds to parse. */
const LARGE_BODY = 65_536;
/** Nothing that a sender means to say nests deeper, or has more values. */
const BOUNDS = { values: 200_000, depth: 100 };

const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json$/;
const FORM = 'application/x-www-form-urlencoded';
const TEXT_TYPE = /^text\/[a-z0-9!#$&^_.+-]+$/;
const CHARSETS = new Set(['utf-8', 'utf8', 'us-ascii']);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body of an event: JSON as it is written, a form as JSON, or text. Throws UNSUPPORTED_MEDIA_TYPE for another type or charset,
 * and VALIDATION_ERROR for an empty body and one that is not what it says it is, or cannot be stored.
 */
export async function readEventBody(headers: IncomingHttpHeaders, body: Buffer): Promise<EventBody> {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const contentType = type.trim();
  const isJson = JSON_TYPE.test(contentType);
  if (!isJson && contentType !== FORM && !TEXT_TYPE.test(contentType)) {
    throw fault('UNSUPPORTED_MEDIA_TYPE', `Send the body as JSON, as ${FORM} or as text.`);
  }
  const charset = /^\s*charset\s*=\s*"?([^"\s]+)/.exec(parameters.find((each) => each.includes('charset')) ?? '')?.[1];
  if (charset !== undefined && !CHARSETS.has(charset)) throw fault('UNSUPPORTED_MEDIA_TYPE', 'Send the body in UTF-8.');
  const written = decoded(body);
  if (body.length > LARGE_BODY) await ownTurn();
  if (written.trim() === '') throw invalid('/body', 'must not be empty', 'minLength');
  if (isJson) checkJson(body, written);
  const text = contentType === FORM ? formAsJson(written) : written;
  if (!isStorable(text)) throw invalid('/body', 'must not contain NUL', 'text');
  return { contentType, text };
}

function decoded(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw invalid('/body', 'must be UTF-8', 'encoding');
  }
}

function checkJson(body: Buffer, text: string): void {
  const passed = boundPassed(body, BOUNDS);
  if (passed)
    throw invalid(
      '/body',
      `must not have more than ${BOUNDS[passed]} ${passed === 'depth' ? 'levels' : 'values'}`,
      'size',
    );
  try {
    JSON.parse(text);
  } catch {
    // The parser's own message would quote the body.
    throw invalid('/body', 'must be JSON', 'parse');
  }
}

/** The fields of a form; a name that comes more than once has a list. */
function formAsJson(text: string): string {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields.get(name);
    if (known === undefined) fields.set(name, value);
    else if (Array.isArray(known)) known.push(value);
    else fields.set(name, [known, value]);
  }
  return JSON.stringify(Object.fromEntries(fields));
}
