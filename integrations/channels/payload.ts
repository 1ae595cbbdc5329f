import { cutText, shorten, toStorable } from '../../core/text.ts';
import type { ChannelIdentity } from './provider.ts';

/*
 * How payloads of providers are read. Nothing in them is trusted: every function here accepts any value and returns something that
 * can be used and stored. None of them throws.
 */

/** An object of a payload. */
export type Payload = Readonly<Record<string, unknown>>;

/** Longest text of an event, in UTF-16 units. */
const MAX_TEXT = 65_536;
const CUT_NOTE = '\n[The message was longer. The rest is missing.]';
/** Longest id of a message, so that there is room for what is appended to it; the database takes 255 characters. */
const MAX_ID = 200;
const MAX_NAME = 255;
const MAX_IDENTITY = 255;
/** Characters of a text that are looked at for a line. */
const MAX_LINE = 5000;
/** WhatsApp is from 2009: what claims to be older has a broken clock. */
const EARLIEST_MS = Date.UTC(2009, 0, 1);
/** How far the clock of a provider may be ahead. */
const AHEAD_MS = 5 * 60_000;
/** Seconds since 1970 are smaller than this until the year 5138, milliseconds are larger since 1973. */
const SMALLEST_MS = 100_000_000_000;

const NOTHING: Payload = Object.freeze({});

/** The object, or an empty one for anything else. */
export function asObject(value: unknown): Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Payload) : NOTHING;
}

/** The list, or an empty one for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text as it can be stored, without white space around it; '' for anything that is no text. One that is far too long is cut. */
export function asSaid(value: unknown): string {
  return typeof value === 'string' ? toStorable(value.slice(0, 2 * MAX_TEXT)).trim() : '';
}

/** The text in one line of at most `max` characters; '' for anything that is neither text nor number. */
export function asLine(value: unknown, max = MAX_NAME): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return '';
  // Whatever is behind it is not shown, and would only be read for nothing.
  return shorten(asSaid(value.slice(0, MAX_LINE)).replace(/\s+/g, ' '), max);
}

/** An id of the provider: a text or a whole number; null when there is none, or one that nobody could store. */
export function asId(value: unknown): string | null {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text.length > MAX_ID) return null;
  return toStorable(text) === text ? text : null;
}

/** The name of a person, or null. */
export function asName(value: unknown): string | null {
  return asLine(value) || null;
}

/** The type and subtype of a media type in lower case, with its parameters as they came; null for anything else. */
export function asMediaType(value: unknown): string | null {
  const text = asLine(value, 200);
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+(\s*;.*)?$/i.test(text) ? text : null;
}

/** The text of an event: cut with a note when it is longer than any message of a person. */
export function boundedText(text: string): string {
  return text.length <= MAX_TEXT ? text : cutText(text, MAX_TEXT - CUT_NOTE.length) + CUT_NOTE;
}

/**
 * The time in ISO 8601. Providers write seconds or milliseconds since 1970, as a number or a text. A time that is missing, before
 * WhatsApp, or ahead of `now` by more than five minutes is `now`: the 24-hour window is counted from it.
 */
export function asTime(value: unknown, now: Date): string {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return now.toISOString();
  const ms = number < SMALLEST_MS ? number * 1000 : number;
  const isReasonable = ms >= EARLIEST_MS && ms <= now.getTime() + AHEAD_MS;
  return new Date(isReasonable ? Math.min(ms, now.getTime()) : now.getTime()).toISOString();
}

/** The identities without repetitions and without values that nobody could store. */
export function distinctIdentities(identities: readonly (ChannelIdentity | null)[]): ChannelIdentity[] {
  const kept = new Map<string, ChannelIdentity>();
  for (const identity of identities) {
    if (identity === null || identity.value.length > MAX_IDENTITY) continue;
    const key = `${identity.kind} ${identity.value}`;
    if (!kept.has(key)) kept.set(key, identity);
  }
  return [...kept.values()];
}

/** The value of a JSON document; undefined when the bytes are none. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
