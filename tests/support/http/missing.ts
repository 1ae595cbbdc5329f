import type supertest from 'supertest';
import type { ErrorCode } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../agents/agents.ts';
import type { TestApp } from './app.ts';

/** Asserts that each id gets 404 with the code, in the same response as an id that does not exist. */
export async function expectMissing(code: ErrorCode, ask: (id: string) => supertest.Test, ids: readonly string[]) {
  const missing = await ask(newId());
  expect([missing.status, missing.body.code]).toEqual([404, code]);
  for (const id of ids) {
    const { status, body } = await ask(id);
    expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
  }
}

/** The id of an agent that is deleted. */
export async function makeDeletedAgent(app: TestApp): Promise<string> {
  const { publicId } = await makeAgent(app);
  await app.api('delete', `/agents/${publicId}`).expect(204);
  return publicId;
}

/** The id of an agent that has no draft. */
export async function makeArchivedAgent(app: TestApp): Promise<string> {
  const { publicId } = await makeAgent(app);
  await setStatus(app.workspace, publicId, 'archived');
  return publicId;
}

/** AGENT_NOT_FOUND of an operation below an agent; that nothing is done to the agent is for the operation's own tests. */
export function describeMissingAgent(app: () => TestApp, ask: (agentId: string) => supertest.Test): void {
  describe('404 AGENT_NOT_FOUND', () => {
    test("another workspace's agent and a deleted one are treated as one that does not exist", async () => {
      const foreign = await makeAgent(app(), {}, app().stranger.apiKey);
      await expectMissing('AGENT_NOT_FOUND', ask, [foreign.publicId, await makeDeletedAgent(app())]);
    });
  });
}

/** NO_DRAFT_VERSION of an operation that looks into the draft. */
export function describeMissingDraft(app: () => TestApp, ask: (agentId: string) => supertest.Test): void {
  describe('409 NO_DRAFT_VERSION', () => {
    test('an archived agent has no draft to look into', async () => {
      const { status, body } = await ask(await makeArchivedAgent(app()));
      expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
    });
  });
}
