import type { IncomingHttpHeaders } from 'node:http';
import { fault, invalid } from '../../../core/errors.ts';
import { isStorable } from '../../../core/text.ts';
import type { AutomationRow } from '../../../db/queries/automations/automations.ts';
import type { ExecutionRow } from '../../../db/queries/automations/executions.ts';
import { findStartable, type StartingEvent, startFromEvent } from '../../../domain/automations/startFromEvent.ts';
import { openTriggerSecrets } from '../../../domain/automations/triggers.ts';
import type { components } from '../../../generated/api.ts';
import { readDelivery } from '../../../integrations/toolkits/builtin/deliveries.ts';
import { BUILTIN_TRIGGERS } from '../../../integrations/toolkits/builtin/triggers.ts';
import { readEventBody } from './eventBody.ts';
import type { AddressedHook, AddressedRequest, HookReply } from './hook.ts';

const MAX_BYTES = 1_048_576;
const REQUESTS_PER_MINUTE = 60;
const KEY = /^[!-~]{1,255}$/;

/** `POST /hooks/automations/<secret>`: the webhook `automation` of the document. */
export const automationHook: AddressedHook = {
  name: 'triggerAutomation',
  method: 'POST',
  path: '/automations/{address}',
  kind: 'automation',
  notFound: 'AUTOMATION_NOT_FOUND',
  maxBytes: MAX_BYTES,
  requestsPerMinute: REQUESTS_PER_MINUTE,
  async handle(request) {
    const automation = await findStartable(request, request.targetId);
    const starting =
      automation.trigger_mode === 'webhook_url'
        ? await readOwnEvent(automation, request)
        : readToolkitEvent(automation, request);
    if (!starting) return accepted(undefined);
    const started = await startFromEvent(request, starting, (data) => void request.jobs.send('run-automation', data));
    return accepted(started);
  },
};

function accepted(execution: Pick<ExecutionRow, 'id' | 'status'> | undefined): HookReply {
  const { id = null, status = null } = execution ?? {};
  return {
    status: 202,
    body: { executionPublicId: id, status } satisfies components['schemas']['AutomationTriggered'],
  };
}

/** An event of any sender: the address alone says that it may start the automation. */
async function readOwnEvent(automation: AutomationRow, { headers, body }: AddressedRequest): Promise<StartingEvent> {
  const key = keyOf(headers);
  const event = await readEventBody(headers, body);
  return { automation, triggeredBy: 'webhook_url', event, key: key && `key ${key}` };
}

/** Throws VALIDATION_ERROR for a key that is none. */
function keyOf(headers: IncomingHttpHeaders): string | undefined {
  for (const name of ['idempotency-key', 'webhook-id']) {
    const value = headers[name];
    if (value === undefined) continue;
    if (typeof value === 'string' && KEY.test(value)) return value;
    throw invalid(`/header/${name}`, 'must be 1 to 255 visible ASCII characters', 'pattern');
  }
  return undefined;
}

/** An event of a built-in toolkit: it is signed. Undefined for one that the automation does not wait for. */
function readToolkitEvent(
  automation: AutomationRow,
  { headers, body, runtime, clock }: AddressedRequest,
): StartingEvent | undefined {
  const trigger = BUILTIN_TRIGGERS.find(({ slug }) => slug === automation.trigger_slug);
  if (!trigger) throw fault('AUTOMATION_NOT_FOUND');
  const config = { ...automation.trigger_config, ...openTriggerSecrets(runtime.secrets, automation) };
  const reading = readDelivery(trigger, config, { headers, body, now: clock.now() });
  if (reading.kind === 'refused') throw fault('VALIDATION_ERROR', reading.reason);
  if (reading.kind === 'ignored') return undefined;
  const { key, name, text } = reading;
  if (!isStorable(text)) throw invalid('/body', 'must not contain NUL', 'text');
  const contentType = name === null ? 'application/json' : `application/json; event=${name}`;
  return { automation, triggeredBy: `webhook:${trigger.slug}`, event: { contentType, text }, key };
}
