import type supertest from 'supertest';
import { makeAgent } from '../../support/agents/agents.ts';
import { listAutomations, makeAutomation } from '../../support/automations/automations.ts';
import type { TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';

/** AUTOMATION_NOT_FOUND of an operation on one automation: a deleted one, another agent's and another workspace's are as none. */
export function describeMissingAutomation(
  app: () => TestApp,
  ask: (agentId: string, automationId: string) => supertest.Test,
): void {
  describe('404 AUTOMATION_NOT_FOUND', () => {
    test('a deleted automation, another agent’s and another workspace’s are treated as one that does not exist', async () => {
      const [own, other] = [await makeAgent(app()), await makeAgent(app())];
      const foreign = await makeAgent(app(), {}, app().stranger.apiKey);
      const deleted = await makeAutomation(app(), own.publicId);
      await app().api('delete', `/agents/${own.publicId}/automations/${deleted.publicId}`).expect(204);
      const others = await makeAutomation(app(), other.publicId);
      const theirs = await makeAutomation(app(), foreign.publicId, {}, app().stranger.apiKey);
      const ids = [deleted.publicId, others.publicId, theirs.publicId];
      await expectMissing('AUTOMATION_NOT_FOUND', (id) => ask(own.publicId, id), ids);
      expect(await listAutomations(app(), other.publicId)).toEqual([others]);
      expect(await listAutomations(app(), foreign.publicId, app().stranger.apiKey)).toEqual([theirs]);
    });
  });
}
