import { fault } from '../../../core/errors.ts';
import { findAutomationsOfRegistryTrigger } from '../../../db/queries/automations/registryTriggers.ts';
import { startFromEvent } from '../../../domain/automations/startFromEvent.ts';
import { readRegistryDelivery } from '../../../integrations/toolkits/registryTriggers.ts';
import type { SharedHook } from './hook.ts';

const MAX_BYTES = 1_048_576;

/**
 * `POST /hooks/toolkits/composio`: events of the registry's triggers, for all workspaces. Each automation that waits for the trigger is
 * started once; one that cannot be started does not keep others from it. A trigger that nothing waits for is acknowledged.
 */
export const composioHook: SharedHook = {
  name: 'receiveToolkitEvent',
  method: 'POST',
  path: '/toolkits/composio',
  kind: undefined,
  maxBytes: MAX_BYTES,
  async handle({ headers, body, runtime, clock, jobs, forWorkspace, system, logger }) {
    const secret = runtime.toolkits.webhookSecret;
    if (secret === undefined) throw fault('NOT_FOUND');
    const delivery = readRegistryDelivery(secret, { headers, body, now: clock.now() });
    if (delivery.kind === 'refused') throw fault('VALIDATION_ERROR', 'The signature does not fit the body.');
    if (delivery.kind === 'ignored') return { status: 202 };
    const { id, triggerId, text } = delivery;
    for (const automation of await findAutomationsOfRegistryTrigger(system, triggerId)) {
      const { workspace_id: workspaceId, trigger_slug: slug } = automation;
      const event = { contentType: `application/json; event=${slug}`, text };
      const starting = { automation, triggeredBy: `webhook:${slug}`, event, key: `composio ${id}` };
      const context = { db: forWorkspace(workspaceId), workspaceId, clock };
      await startFromEvent(context, starting, (data) => void jobs.send('run-automation', data)).catch(
        (error: unknown) => {
          logger.info({ err: error, workspaceId }, 'an event of the toolkit registry started nothing');
        },
      );
    }
    return { status: 202 };
  },
};
