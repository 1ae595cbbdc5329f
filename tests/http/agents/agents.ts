import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import type { TestApp } from '../../support/http/app.ts';

type Agent = components['schemas']['Agent'];

/** The published versions of an agent as they are stored, oldest first. */
export function versionsOf(app: TestApp, agentId: string) {
  return app.workspace.db
    .selectFrom('agent_versions')
    .select(['version_number', 'notes', 'snapshot', 'created_at'])
    .where('agent_id', '=', agentId)
    .orderBy('version_number')
    .execute();
}

/**
 * The responses to one request for an unknown agent, a deleted one and one of another workspace, without their
 * request ids. They must be equal.
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

/** The expected value of `answersForMissing`. */
export const allNotFound = Array.from({ length: 3 }, () => [
  404,
  { code: 'AGENT_NOT_FOUND', status: 404, message: 'No agent with this id exists in the workspace.', details: [] },
]);
