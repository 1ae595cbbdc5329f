import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { WebhookTrigger } from './triggers.ts';

/** A request to the address of an automation, as it came. */
export interface Delivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** When it came. */
  now: Date;
}

/** A configuration with its secrets in their places. It has passed the trigger's schema. */
export type TriggerConfig = Readonly<Record<string, unknown>>;

/** What a delivery is. */
export type DeliveryReading =
  /** It is not the sender's, it is too old, or it has no event. `reason` is for the sender. */
  | { kind: 'refused'; reason: string }
  /** It is the sender's, and nothing that the automation waits for. */
  | { kind: 'ignored' }
  /** An event. The same `key` is the same event, sent again. `name` is the sender's name of it, `text` its JSON. */
  | { kind: 'event'; key: string; name: string | null; text: string };

const WRONG_SIGNATURE: DeliveryReading = { kind: 'refused', reason: 'The signature does not fit the body.' };
const WRONG_TIME: DeliveryReading = { kind: 'refused', reason: 'The time of the signature is too old, or no time.' };
const NO_EVENT: DeliveryReading = { kind: 'refused', reason: 'The body must be a JSON object.' };
const IGNORED: DeliveryReading = { kind: 'ignored' };

/** Each built-in trigger says how old a delivery may be; this is the default of its schema. */
const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Checks a delivery and says whether it is an event that the trigger and its configuration wait for. The signature is over the bytes of
 * the body and comes first: nothing of a forged one is parsed.
 */
export function readDelivery(trigger: WebhookTrigger, config: TriggerConfig, delivery: Delivery): DeliveryReading {
  if (trigger.toolkit === 'github') return readGithub(trigger, config, delivery);
  if (trigger.toolkit === 'stripe') return readStripe(trigger, config, delivery);
  return trigger.slug === 'WEBHOOK_STANDARD' ? readStandard(config, delivery) : readSigned(config, delivery);
}

type Payload = Record<string, unknown>;

/** docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries */
function readGithub(trigger: WebhookTrigger, config: TriggerConfig, { headers, body }: Delivery): DeliveryReading {
  const given = /^sha256=([0-9a-f]{64})$/.exec(one(headers, 'x-hub-signature-256') ?? '')?.[1];
  if (!given || !isEqual(hmac('sha256', config.signingSecret, body), Buffer.from(given, 'hex'))) return WRONG_SIGNATURE;
  const event = one(headers, 'x-github-event') ?? '';
  if (event !== trigger.event) return IGNORED;
  // GitHub sends a form unless the webhook says otherwise.
  const isForm = (one(headers, 'content-type') ?? '').startsWith('application/x-www-form-urlencoded');
  const text = isForm ? new URLSearchParams(body.toString()).get('payload') : body.toString();
  const payload = parsed(text);
  if (!payload || text === null) return NO_EVENT;
  if (!matchesGithub(event, config, payload)) return IGNORED;
  // X-GitHub-Delivery is not signed: who has seen a delivery could send it again under another id.
  return { kind: 'event', key: `github ${digest(body)}`, name: event, text };
}

function matchesGithub(event: string, config: TriggerConfig, payload: Payload): boolean {
  const { repository, branches, actions, conclusions } = config as Partial<Record<string, string[]>>;
  const name = textAt(payload, 'repository', 'full_name');
  if (repository !== undefined && String(repository).toLowerCase() !== name?.toLowerCase()) return false;
  const branch = event === 'push' ? branchOf(textAt(payload, 'ref')) : textAt(payload, 'pull_request', 'base', 'ref');
  return (
    isAmong(branches, branch) &&
    isAmong(actions, textAt(payload, 'action')) &&
    isAmong(conclusions, textAt(payload, 'workflow_run', 'conclusion'))
  );
}

/** The branch of a ref; undefined for a tag. */
function branchOf(ref: string | undefined): string | undefined {
  return ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;
}

/** docs.stripe.com/webhooks/signature */
function readStripe(trigger: WebhookTrigger, config: TriggerConfig, { headers, body, now }: Delivery): DeliveryReading {
  const parts = (one(headers, 'stripe-signature') ?? '').split(',').map((part) => part.trim().split('='));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  const given = parts.flatMap(([name, value]) => (name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? '') ? [value] : []));
  const own = hmac('sha256', config.signingSecret, `${time}.`, body);
  if (!given.some((value) => isEqual(own, Buffer.from(value as string, 'hex')))) return WRONG_SIGNATURE;
  if (!isRecent(time, config, now)) return WRONG_TIME;
  const text = body.toString();
  const payload = parsed(text);
  const [id, type] = [textAt(payload, 'id'), textAt(payload, 'type')];
  if (!payload || id === undefined || type === undefined) return NO_EVENT;
  const { events = [], livemode } = config as { events?: string[]; livemode?: boolean };
  if (trigger.event === null ? !events.includes(type) : trigger.event !== type) return IGNORED;
  if (livemode !== undefined && payload.livemode !== livemode) return IGNORED;
  return { kind: 'event', key: `stripe ${id}`, name: type, text };
}

/** github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function readStandard(config: TriggerConfig, { headers, body, now }: Delivery): DeliveryReading {
  const [id, time] = [one(headers, 'webhook-id'), one(headers, 'webhook-timestamp')];
  if (!id || !time) return WRONG_SIGNATURE;
  const key = Buffer.from(String(config.signingSecret).replace(/^whsec_/, ''), 'base64');
  const own = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  const given = (one(headers, 'webhook-signature') ?? '').split(' ').filter((each) => each.startsWith('v1,'));
  if (!given.some((each) => isEqual(own, Buffer.from(each.slice(3), 'base64')))) return WRONG_SIGNATURE;
  if (!isRecent(time, config, now)) return WRONG_TIME;
  const text = body.toString();
  const payload = parsed(text);
  if (!payload) return NO_EVENT;
  const type = textAt(payload, 'type');
  if (!isAmong(config.events as string[] | undefined, type)) return IGNORED;
  return { kind: 'event', key: `standard ${id}`, name: type ?? null, text };
}

function readSigned(config: TriggerConfig, { headers, body, now }: Delivery): DeliveryReading {
  const { signingSecret, signatureHeader, signaturePrefix = '', algorithm = 'sha256', encoding = 'hex' } = config;
  const { timestampHeader, eventHeader } = config as Partial<Record<string, string>>;
  const given = one(headers, String(signatureHeader)) ?? '';
  const prefix = String(signaturePrefix);
  if (!given.startsWith(prefix)) return WRONG_SIGNATURE;
  const time = timestampHeader === undefined ? undefined : (one(headers, timestampHeader) ?? '');
  const signed = time === undefined ? [body] : [`${time}.`, body];
  const own = hmac(String(algorithm), signingSecret, ...signed);
  const bytes = Buffer.from(given.slice(prefix.length), encoding as BufferEncoding);
  if (!isEqual(own, bytes)) return WRONG_SIGNATURE;
  if (time !== undefined && !isRecent(time, config, now)) return WRONG_TIME;
  const text = body.toString();
  if (!parsed(text)) return NO_EVENT;
  const name = eventHeader === undefined ? undefined : one(headers, eventHeader);
  if (!isAmong(config.events as string[] | undefined, name)) return IGNORED;
  // Whatever else came is not signed, so the same signed bytes are the same event.
  return { kind: 'event', key: `signed ${digest(...signed)}`, name: name ?? null, text };
}

function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

function hmac(algorithm: string, secret: unknown, ...parts: (string | Buffer)[]): Buffer {
  const hash = createHmac(algorithm, String(secret));
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function digest(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** Takes the same time wherever the two differ. */
function isEqual(own: Buffer, given: Buffer): boolean {
  return own.length === given.length && timingSafeEqual(own, given);
}

/** Whether a time in Unix seconds is as near to now as the configuration demands, before or after: clocks differ. */
function isRecent(time: string, { toleranceSeconds }: TriggerConfig, now: Date): boolean {
  if (!/^\d{1,12}$/.test(time)) return false;
  const tolerance = typeof toleranceSeconds === 'number' ? toleranceSeconds : DEFAULT_TOLERANCE_SECONDS;
  return Math.abs(now.getTime() / 1000 - Number(time)) <= tolerance;
}

/** A JSON object; undefined for anything else. */
function parsed(text: string | null): Payload | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Payload) : undefined;
  } catch {
    return undefined;
  }
}

/** A text within a payload; undefined when it is not there, or no text. */
function textAt(payload: unknown, ...path: string[]): string | undefined {
  let value: unknown = payload;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Payload)[step];
  }
  return typeof value === 'string' ? value : undefined;
}

/** Whether a value is one of those that are chosen; all are, when none is. */
function isAmong(chosen: readonly string[] | undefined, value: string | undefined): boolean {
  return chosen === undefined || (value !== undefined && chosen.includes(value));
}
