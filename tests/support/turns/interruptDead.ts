import type { Database } from '../../../db/connect.ts';
import { findDeadTurns, interruptTurn, takeDeadTurn } from '../../../db/queries/turns/deadTurns.ts';

/** Ends every turn whose process has died, as those are ended that nobody can go on with. */
export async function interruptDead({ system, forWorkspace }: Database, now: Date): Promise<void> {
  const { due } = await findDeadTurns(system, 1_000);
  for (const { workspaceId, conversationId } of due) {
    const dead = await takeDeadTurn(forWorkspace(workspaceId), workspaceId, conversationId, 'Unknown.');
    if (dead) await interruptTurn(system, dead.held, { reason: 'The process died.', now, countedAt: undefined });
  }
}
