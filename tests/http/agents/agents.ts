import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../../support/app.ts';

export type Agent = components['schemas']['Agent'];

let names = 0;

/** A new agent with a name of its own; `fields` are then set with updateAgent. */
export async function makeAgent(app: TestApp, fields: object = {}, key = app.workspace.apiKey): Promise<Agent> {
  names += 1;
  const created = await app.api('post', '/agents', key).send({ name: `Agent ${names}` });
  if (created.status !== 201) throw new Error(created.text);
  if (Object.keys(fields).length === 0) return created.body;
  const changed = await app.api('patch', `/agents/${created.body.publicId}`, key).send(fields);
  if (changed.status !== 200) throw new Error(changed.text);
  return changed.body;
}

/** The agent as the API shows it now. */
export async function readAgent(app: TestApp, id: string, key = app.workspace.apiKey): Promise<Agent> {
  const { status, body } = await app.api('get', `/agents/${id}`, key);
  if (status !== 200) throw new Error(`getAgent answers ${status}`);
  return body;
}

/** Puts the agent where only the console can: no operation of the API does. */
export async function setStatus(app: TestApp, id: string, status: 'inactive' | 'archived'): Promise<void> {
  await app.workspace.db
    .updateTable('agents')
    .set(status === 'archived' ? { status, draft_version_number: null } : { status })
    .where('id', '=', id)
    .execute();
}

/** A model of the workspace's own; by default it can do everything. Answers its id. */
export async function makeModel(
  app: TestApp,
  can: {
    temperature?: [number, number] | null;
    thinking?: boolean;
    workspace?: TestApp['workspace'];
    name?: string;
  } = {},
): Promise<string> {
  const { workspaceId, db } = can.workspace ?? app.workspace;
  const id = newId();
  const { temperature = [0, 2] } = can;
  await db
    .insertInto('ai_models')
    .values({
      workspace_id: workspaceId,
      id,
      name: can.name ?? 'Our model',
      provider: 'openai',
      model_id: id,
      display_provider: 'OpenAI',
      context_window: 8000,
      input_cost_per_1m_tokens: 1,
      output_cost_per_1m_tokens: 2,
      supports_temperature: temperature !== null,
      min_temperature: temperature?.[0] ?? null,
      max_temperature: temperature?.[1] ?? null,
      supports_thinking: can.thinking ?? true,
    })
    .execute();
  return id;
}

/** What the published versions of an agent hold, the first one first. */
export function versionsOf(app: TestApp, agentId: string) {
  return app.workspace.db
    .selectFrom('agent_versions')
    .select(['version_number', 'notes', 'snapshot', 'created_at'])
    .where('agent_id', '=', agentId)
    .orderBy('version_number')
    .execute();
}

/**
 * The answers of one request for an agent that never was, one that is deleted and one of another workspace, less their
 * request ids: they must be the same.
 */
export async function answersForMissing(
  app: TestApp,
  ask: (id: string) => PromiseLike<{ status: number; body: { requestId?: string } }>,
): Promise<{ answers: unknown[]; foreign: Agent }> {
  const deleted = await makeAgent(app);
  await app.api('delete', `/agents/${deleted.publicId}`);
  const foreign = await makeAgent(app, {}, app.stranger.apiKey);
  const answers = [];
  for (const id of [newId(), deleted.publicId, foreign.publicId]) {
    const { status, body } = await ask(id);
    const { requestId: _, ...rest } = body;
    answers.push([status, rest]);
  }
  return { answers, foreign };
}

/** What all three of them are. */
export const allNotFound = Array.from({ length: 3 }, () => [
  404,
  { code: 'AGENT_NOT_FOUND', status: 404, message: 'No agent with this id exists in the workspace.', details: [] },
]);
