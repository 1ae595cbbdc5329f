import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../http/app.ts';

type Schemas = components['schemas'];

/** Asks for a link; the test looks at the answer. */
export function askForSubAgent(app: TestApp, agentId: string, body: Schemas['SubAgentLinkCreate'], key?: string) {
  return app.api('post', `/agents/${agentId}/sub-agents`, key).send(body);
}

/** A new link. */
export async function linkSubAgent(
  app: TestApp,
  agentId: string,
  subAgentPublicId: string,
  fields: Partial<Schemas['SubAgentLinkCreate']> = {},
): Promise<Schemas['SubAgentLink']> {
  const { status, text, body } = await askForSubAgent(app, agentId, { subAgentPublicId, ...fields });
  if (status !== 201) throw new Error(text);
  return body;
}

/** Links each agent to the next one. */
export async function chain(app: TestApp, ...ids: string[]): Promise<void> {
  for (const [i, id] of ids.slice(1).entries()) await linkSubAgent(app, ids[i] as string, id);
}

/** The sub-agents of an agent, in their order. */
export async function subAgents(app: TestApp, agentId: string): Promise<Schemas['SubAgentLink'][]> {
  const { status, text, body } = await app.api('get', `/agents/${agentId}/sub-agents`);
  if (status !== 200) throw new Error(text);
  return body;
}

/** Their ids. */
export async function subAgentIds(app: TestApp, agentId: string): Promise<string[]> {
  return (await subAgents(app, agentId)).map(({ subAgentPublicId }) => subAgentPublicId);
}
