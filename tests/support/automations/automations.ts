import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../http/app.ts';

type Automation = components['schemas']['Automation'];

let made = 0;

/** A request body for a manual automation with a name of its own, and `fields`. */
export function automationFields(fields: object = {}): object {
  return { name: `Automation ${++made}`, prompt: 'Write the report.', triggerMode: 'manual', ...fields };
}

/** A new automation of an agent. `key` is of the agent's workspace. */
export async function makeAutomation(
  app: TestApp,
  agentId: string,
  fields: object = {},
  key?: string,
): Promise<Automation> {
  const created = await app.api('post', `/agents/${agentId}/automations`, key).send(automationFields(fields));
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** The automations of an agent as the API lists them. */
export async function listAutomations(app: TestApp, agentId: string, key?: string): Promise<Automation[]> {
  const { status, text, body } = await app.api('get', `/agents/${agentId}/automations`, key);
  if (status !== 200) throw new Error(text);
  return body;
}

/** The path of the address of an automation, as the response that made it shows it. */
export function addressOf(app: Pick<TestApp, 'origin'>, automation: Pick<Automation, 'triggerConfig'>): string {
  const { webhookUrl } = automation.triggerConfig;
  if (typeof webhookUrl !== 'string' || !webhookUrl.startsWith(app.origin))
    throw new Error(`No address: ${webhookUrl}`);
  return webhookUrl.slice(app.origin.length);
}
