import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../http/app.ts';

type Schemas = components['schemas'];

let made = 0;

/** A new command of an agent, with a name and a slash word of its own. */
export async function makeCommand(
  app: TestApp,
  agentId: string,
  fields: Partial<Schemas['AgentCommandCreate']> = {},
  key?: string,
): Promise<Schemas['AgentCommand']> {
  made += 1;
  const body = { name: `Command ${made}`, command: `command-${made}`, prompt: 'Do it.', ...fields };
  const created = await app.api('post', `/agents/${agentId}/commands`, key).send(body);
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** The commands of an agent as the API lists them. */
export async function listCommands(app: TestApp, agentId: string, key?: string): Promise<Schemas['AgentCommand'][]> {
  const { status, text, body } = await app.api('get', `/agents/${agentId}/commands`, key);
  if (status !== 200) throw new Error(text);
  return body;
}
