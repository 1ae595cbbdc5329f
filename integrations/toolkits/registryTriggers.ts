import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { type Registry, refusal, unavailable } from './registry.ts';

/*
 * Triggers that the registry keeps, and the events that it sends (docs.composio.dev/reference/v3, docs.composio.dev/docs/webhook-verification).
 * The same trigger with the same account and configuration is one at the registry, however often it is asked for.
 */

const TOLERANCE_SECONDS = 300;

const started = z.object({ trigger_id: z.string().min(1).max(200) });
/** Version 3 of its payloads, and version 2 of older projects. */
const message = z.union([
  z.object({
    type: z.literal('composio.trigger.message'),
    metadata: z.object({ trigger_id: z.string(), trigger_slug: z.string().nullish() }),
    data: z.record(z.string(), z.unknown()),
  }),
  z.object({ type: z.string(), data: z.looseObject({ trigger_nano_id: z.string() }) }),
]);

/** Thrown when the registry does not accept a trigger with this configuration. The message is for whoever wrote it. */
export class TriggerRefused extends Error {}

/** Starts a trigger for an account and returns its id. Throws TriggerRefused and TOOLKIT_REGISTRY_UNAVAILABLE. */
export async function startTrigger(
  registry: Registry,
  { slug, accountId, config }: { slug: string; accountId: string; config: Readonly<Record<string, unknown>> },
): Promise<string> {
  const path = `/trigger_instances/${encodeURIComponent(slug)}/upsert`;
  const { answered, status, body } = await registry.ask(path, {
    method: 'POST',
    body: { connected_account_id: accountId, trigger_config: config, toolkit_versions: 'latest' },
  });
  if (!answered) {
    throw new TriggerRefused(refusal.safeParse(body).data?.error.message ?? `The registry refused it with ${status}.`);
  }
  const parsed = started.safeParse(body);
  if (!parsed.success) throw unavailable('a trigger was started in another shape', parsed.error);
  return parsed.data.trigger_id;
}

/** Lets a trigger rest: nothing is sent for it until it is started again. One that the registry does not have is as good. */
export async function pauseTrigger(registry: Registry, triggerId: string): Promise<void> {
  await registry.ask(managed(triggerId), { method: 'PATCH', body: { status: 'disable' } });
}

/** Removes a trigger. One that the registry does not have is as good. */
export async function removeTrigger(registry: Registry, triggerId: string): Promise<void> {
  await registry.ask(managed(triggerId), { method: 'DELETE' });
}

function managed(triggerId: string): string {
  return `/trigger_instances/manage/${encodeURIComponent(triggerId)}`;
}

/** A request of the registry. */
export type RegistryDelivery =
  /** It is not the registry's, or it is too old. */
  | { kind: 'refused' }
  /** It is the registry's, and no event of a trigger. */
  | { kind: 'ignored' }
  /** `id` is the same when it is sent again. `text` is the event in JSON. */
  | { kind: 'event'; id: string; triggerId: string; text: string };

/** Checks a request of the registry by its signature, over the bytes of the body, and reads its event. */
export function readRegistryDelivery(
  secret: string,
  { headers, body, now }: { headers: IncomingHttpHeaders; body: Buffer; now: Date },
): RegistryDelivery {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`]);
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') return { kind: 'refused' };
  const own = createHmac('sha256', secret).update(`${id}.${time}.`).update(body).digest();
  const isSigned = signatures.split(' ').some((each) => {
    const given = Buffer.from(each.startsWith('v1,') ? each.slice(3) : '', 'base64');
    return given.length === own.length && timingSafeEqual(own, given);
  });
  if (!isSigned || !/^\d{1,12}$/.test(time)) return { kind: 'refused' };
  if (Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_SECONDS) return { kind: 'refused' };
  let payload: unknown;
  try {
    payload = JSON.parse(body.toString());
  } catch {
    return { kind: 'refused' };
  }
  const parsed = message.safeParse(payload);
  if (!parsed.success) return { kind: 'ignored' };
  const { data } = parsed.data;
  const triggerId = 'metadata' in parsed.data ? parsed.data.metadata.trigger_id : String(data.trigger_nano_id);
  return { kind: 'event', id, triggerId, text: JSON.stringify(data) };
}
