import type supertest from 'supertest';
import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { channelPath, makeConnection } from '../../support/channels/connections.ts';
import type { TestApp } from '../../support/http/app.ts';
import { describeMissingAgent, expectMissing } from '../../support/http/missing.ts';

/** What the operations of one connection answer for an agent or a connection that is not there. */
export function describeMissingChannel(app: () => TestApp, ask: (agentId: string, id: string) => supertest.Test): void {
  describeMissingAgent(app, (agentId) => ask(agentId, newId()));

  describe('404 CHANNEL_CONNECTION_NOT_FOUND', () => {
    test("a deleted connection, another agent's and another workspace's are as one that does not exist", async () => {
      const { publicId: agentId } = await makeAgent(app());
      const deleted = await makeConnection(app(), 'web_chat', { agentId });
      await app().api('delete', channelPath(deleted)).expect(204);
      const other = await makeConnection(app());
      const foreign = await makeConnection(app(), 'web_chat', { key: app().stranger.apiKey });
      const ids = [deleted, other, foreign].map(({ publicId }) => publicId);
      await expectMissing('CHANNEL_CONNECTION_NOT_FOUND', (id) => ask(agentId, id), ids);
    });
  });
}
