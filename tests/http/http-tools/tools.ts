import { newId } from '../../../core/ids.ts';
import type { TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';

/**
 * The responses to one request for a tool that does not exist, a deleted one and one of another workspace, without their request
 * ids. They must be equal.
 */
export async function answersForMissing(
  app: TestApp,
  ask: (id: string) => PromiseLike<{ status: number; body: { requestId?: string } }>,
): Promise<unknown[]> {
  const deleted = await makeTool(app);
  await app.api('delete', `/http-tools/${deleted.publicId}`);
  const foreign = await makeTool(app, {}, app.stranger.apiKey);
  const answers = [];
  for (const id of [newId(), deleted.publicId, foreign.publicId]) {
    const { status, body } = await ask(id);
    const { requestId: _, ...rest } = body;
    answers.push([status, rest]);
  }
  const untouched = await app.api('get', `/http-tools/${foreign.publicId}`, app.stranger.apiKey);
  expect(untouched.body).toEqual(foreign);
  return answers;
}

/** The expected value of `answersForMissing`. */
export const allNotFound = Array.from({ length: 3 }, () => [
  404,
  { code: 'HTTP_TOOL_NOT_FOUND', status: 404, message: 'No tool with this id exists in the workspace.', details: [] },
]);
