import { newId } from '../../core/ids.ts';
import { beginConversation } from '../../db/queries/turns/beginConversation.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { resumeDeadTurn } from '../../jobs/resumeTurn.ts';
import { resumeTurn } from '../../runtime/turn/runTurn.ts';
import { publishedAgent } from '../http/messages/turns.ts';
import { turnsOf } from '../support/agents/runtimeAgents.ts';
import type { TestClock } from '../support/http/app.ts';
import { useModelApp } from '../support/http/modelApp.ts';
import { turnStart } from '../support/turns/storedTurns.ts';

/* Turns that were begun by a process that does nothing for them any more. */

const here = useModelApp();

/** Begins a turn at a time of the service's clock. */
async function begunTurn(): Promise<string> {
  const { db, workspaceId } = here.app.workspace;
  const conversationId = newId();
  const agentId = await publishedAgent(here.app);
  const start = turnStart({ workspaceId, conversationId, agentId, now: here.app.clock.now() }, 'Are you there?');
  await beginConversation(db, start, { externalUserId: newId(), isTest: false, metadata: {} });
  return conversationId;
}

const leaseOf = async (conversationId: string) => {
  const { turn_expires_at } = await here.app.workspace.db
    .selectFrom('conversations')
    .select('turn_expires_at')
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow();
  return turn_expires_at?.getTime() ?? 0;
};

test('a turn is held for twenty seconds at most, so that another process goes on with it within thirty', async () => {
  const conversationId = await begunTurn();
  const left = (await leaseOf(conversationId)) - Date.now();
  expect(left).toBeLessThanOrEqual(20_500);
  expect(left).toBeGreaterThan(0);
});

test('a turn that is found more than a day after it began is interrupted, and no model is asked', async () => {
  const { db, workspaceId } = here.app.workspace;
  const found = async (afterMs: number) => {
    const conversationId = await begunTurn();
    const past = new Date(Date.now() - 1_000);
    await db.updateTable('conversations').set({ turn_expires_at: past }).where('id', '=', conversationId).execute();
    (here.app.clock as TestClock).advance(afterMs);
    await resumeTurn({ db, workspaceId, runtime: here.app.service.runtime }, conversationId);
    const [turn] = await turnsOf(here.app, conversationId);
    return [turn?.status, turn?.error_message];
  };
  expect(await found(24 * 3_600_000)).toEqual(['done', null]);
  expect(here.server.requests).toHaveLength(1);
  const message = 'The process that ran it died, and no other found it within a day.';
  expect(await found(24 * 3_600_000 + 1)).toEqual(['interrupted', message]);
  expect(here.server.requests).toHaveLength(1);
});

test('a look for dead turns finds them, and says when the next lease ends', async () => {
  const { database } = here.app.database;
  const sweep = () => resumeDeadTurn.sweep({ database } as JobContext);
  const conversationId = await begunTurn();
  const endsAt = async (at: Date) => {
    const { db } = here.app.workspace;
    await db.updateTable('conversations').set({ turn_expires_at: at }).where('id', '=', conversationId).execute();
    return await sweep();
  };
  // Sooner than any other.
  const soon = new Date(Date.now() + 15_000);
  const { due, next } = await endsAt(soon);
  expect([due.map((one) => one.conversationId), next]).toEqual([[], soon]);
  expect((await endsAt(new Date(Date.now() - 1_000))).due).toMatchObject([{ conversationId }]);
});
