import type { Request, Response } from 'express';
import { fault } from '../../../core/errors.ts';
import { isStorable } from '../../../core/text.ts';
import { readAll } from '../../api/body.ts';

/** Largest form, in bytes: a few short fields, in any script. */
const MAX_FORM_BYTES = 16 * 1024;
/** A browser has sent its form by then. */
const FORM_MS = 10_000;
const FORM = /^application\/x-www-form-urlencoded\b/i;

/**
 * Whether a form was sent from a page of the same host. Browsers say so by Sec-Fetch-Site where the page came by https or from the machine itself, and by Origin,
 * which is `null` for a page that names no referrer. A request with neither is taken by plain http only, where browsers tell nothing.
 */
export function isOwnForm({ headers }: Pick<Request, 'headers'>, isSecure: boolean): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  if (origin === undefined || origin === 'null') return !isSecure;
  return URL.parse(origin)?.host === headers.host?.toLowerCase();
}

/** Reads the form. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT and VALIDATION_ERROR. */
export async function readHubForm(request: Request, response: Response, formMs = FORM_MS): Promise<URLSearchParams> {
  const { headers } = request;
  const isPacked = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (isPacked || !FORM.test(headers['content-type'] ?? '')) throw fault('UNSUPPORTED_MEDIA_TYPE');
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    // What still comes of the body belongs to no request.
    response.setHeader('Connection', 'close');
    late.reject(fault('REQUEST_TIMEOUT'));
  }, formMs);
  try {
    const body = await Promise.race([readAll(request, MAX_FORM_BYTES), late.promise]);
    const form = new URLSearchParams(body.toString('utf8'));
    if (![...form].flat().every(isStorable)) throw fault('VALIDATION_ERROR');
    return form;
  } finally {
    clearTimeout(timer);
  }
}
