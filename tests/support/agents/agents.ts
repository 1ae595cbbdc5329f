import type { Insertable } from 'kysely';
import { newId } from '../../../core/ids.ts';
import { updateAgentRow } from '../../../db/queries/agents/agents.ts';
import { insertCustomModel } from '../../../db/queries/agents/aiModels.ts';
import type { components } from '../../../generated/api.ts';
import type { AiModels } from '../../../generated/db.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import type { SeededWorkspace } from '../db/database.ts';
import type { TestApp } from '../http/app.ts';

type Schemas = components['schemas'];

let made = 0;

/** A new agent with a name of its own; `fields` are then set with updateAgent. `key` is of the workspace that it is made in. */
export async function makeAgent(
  app: TestApp,
  fields: Schemas['AgentUpdate'] = {},
  key?: string,
): Promise<Schemas['Agent']> {
  const created = await app.api('post', '/agents', key).send({ name: `Agent ${++made}` });
  if (created.status !== 201) throw new Error(created.text);
  if (Object.keys(fields).length === 0) return created.body;
  const changed = await app.api('patch', `/agents/${created.body.publicId}`, key).send(fields);
  if (changed.status !== 200) throw new Error(changed.text);
  return changed.body;
}

/** A new agent that could be published: it has the built-in model. */
export function makeReadyAgent(
  app: TestApp,
  fields: Schemas['AgentUpdate'] = {},
  key?: string,
): Promise<Schemas['Agent']> {
  return makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId, ...fields }, key);
}

/** Publishes an agent and returns it. */
export async function publish(app: TestApp, agentId: string, notes?: string, key?: string): Promise<Schemas['Agent']> {
  const published = await app.api('post', `/agents/${agentId}/publish`, key).send(notes === undefined ? {} : { notes });
  if (published.status !== 200) throw new Error(published.text);
  return published.body;
}

/** The agent as the API shows it now. */
export async function readAgent(app: TestApp, agentId: string, key?: string): Promise<Schemas['Agent']> {
  const { status, text, body } = await app.api('get', `/agents/${agentId}`, key);
  if (status !== 200) throw new Error(text);
  return body;
}

/** A new variable of an agent. */
export async function makeVariable(
  app: TestApp,
  agentId: string,
  fields: Partial<Schemas['AgentVariableCreate']> = {},
  key?: string,
): Promise<Schemas['AgentVariable']> {
  const body = { name: `variable_${++made}`, label: 'Label', type: 'text_short', ...fields };
  const created = await app.api('post', `/agents/${agentId}/prompt/variables`, key).send(body);
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** Puts an agent where only the operator's console can: no operation of the API does. */
export async function setStatus(
  { workspaceId, db }: SeededWorkspace,
  agentId: string,
  status: 'inactive' | 'archived',
): Promise<void> {
  await updateAgentRow(
    db,
    workspaceId,
    agentId,
    status === 'archived' ? { status, draft_version_number: null } : { status },
  );
}

/** Adds a model of the workspace's own, by default one that runs on the built-in provider. Answers with its id. */
export async function addModel(
  { workspaceId, db }: SeededWorkspace,
  columns: Partial<Insertable<AiModels>> = {},
): Promise<string> {
  const id = newId();
  await insertCustomModel(db, {
    workspace_id: workspaceId,
    id,
    name: `Model ${++made}`,
    provider: 'builtin',
    model_id: `model-${made}`,
    display_provider: 'Acme',
    context_window: 8000,
    input_cost_per_1m_tokens: 1.5,
    output_cost_per_1m_tokens: 3,
    min_temperature: 0,
    max_temperature: 1,
    supports_thinking: true,
    ...columns,
  });
  return id;
}

/** The body of an error without what differs from one request to the next. */
export function withoutRequestId({
  requestId: _requestId,
  ...rest
}: Schemas['ApiError']): Omit<Schemas['ApiError'], 'requestId'> {
  return rest;
}
