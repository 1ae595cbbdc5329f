import { type ApprovalRow, decideApprovals, findApprovals } from '../../db/queries/turns/approvals.ts';
import type { WaitingTurn } from '../../db/queries/turns/claimConversation.ts';
import { type PausedRun, type PendingApproval, type Resumption, waitingCalls } from '../agent/paused.ts';
import { pausedRunOf } from '../agent/storedRun.ts';
import type { Turn } from './types.ts';

/** A run of the conversation that waits for decisions. */
interface WaitingRun {
  turnId: string;
  paused: PausedRun;
  calls: PendingApproval[];
}

/** What a turn does with the runs of its conversation that wait. */
export interface WaitingRuns {
  /** The run that the turn continues; null: it answers beside those that wait, if any do. */
  resumed: { turnId: string; paused: PausedRun; resumption: Resumption } | null;
  /** The turns whose runs wait no longer after this one, and the calls that they waited for. */
  ended: { turnIds: string[]; calls: string[] };
  /** The calls of the other runs that go on waiting. */
  waiting: PendingApproval[];
}

/**
 * Applies the turn's decisions to the calls that wait in its conversation, and says which run it continues. That is one of whose calls it
 * decides, or one that nothing holds up any more. Where the user decides, a message that decides nothing withdraws the calls: whoever
 * wrote something else did not approve. Where an operator decides, it is answered beside them, and they go on waiting. A message that
 * names some calls leaves the others waiting.
 */
export async function applyDecisions(turn: Turn, stored: readonly WaitingTurn[]): Promise<WaitingRuns> {
  const { db, workspaceId, runtime, kind, approvalsBy } = turn;
  const { byId, all } = turn.decisions;
  const runs = stored.map(({ id, paused: state }): WaitingRun => {
    const paused = pausedRunOf(state);
    return { turnId: id, paused, calls: waitingCalls(paused) };
  });
  if (runs.length === 0) return { resumed: null, ended: { turnIds: [], calls: [] }, waiting: [] };
  const ids = runs.flatMap(({ calls }) => calls.map(({ id }) => id));
  const decidesSome = ids.some((id) => byId.has(id));
  const withdrawing = kind === 'message' && approvalsBy === 'user' && all === null && !decidesSome;
  const decisions = ids.map((id) => [id, byId.get(id) ?? (withdrawing ? 'reject' : null)] as const);
  const those = (decision: 'approve' | 'reject') => decisions.flatMap(([id, made]) => (made === decision ? [id] : []));
  const [approved, rejected] = [those('approve'), those('reject')];
  const now = runtime.clock.now();
  const decided =
    approved.length + rejected.length > 0
      ? await decideApprovals(db, workspaceId, { approved, rejected }, 'message', now)
      : [];
  const rows = await findApprovals(db, workspaceId, ids);
  const approvals = new Map(rows.map((row) => [row.id, row]));
  const resumed = runToResume(turn, runs, { approvals, withdrawing });
  // What was withdrawn in the other runs is over: no model has to hear of each.
  const dropped = runs.filter(
    (run) => run !== resumed && withdrawing && run.calls.every(({ id }) => approvals.get(id)?.status === 'rejected'),
  );
  const ended = [...(resumed ? [resumed] : []), ...dropped];
  return {
    resumed: resumed && {
      turnId: resumed.turnId,
      paused: resumed.paused,
      resumption: { approvals, withdrawn: new Set(withdrawing ? [...decided, ...withdrawnBefore(turn, rows)] : []) },
    },
    ended: {
      turnIds: ended.map(({ turnId }) => turnId),
      calls: ended.flatMap(({ calls }) => calls.map(({ id }) => id)),
    },
    waiting: runs
      .filter((run) => !ended.includes(run))
      .flatMap(({ calls }) => calls.filter(({ id }) => approvals.get(id)?.status === 'pending')),
  };
}

/** The calls that an earlier attempt at the turn withdrew, whose process died. */
function withdrawnBefore({ record }: Turn, rows: readonly ApprovalRow[]): string[] {
  if (!record) return [];
  return rows.flatMap(({ id, status, decided_by }) => (status === 'rejected' && decided_by === 'message' ? [id] : []));
}

/** The run that the turn continues, if it continues one. */
function runToResume(
  { kind, decisions: { byId }, record }: Turn,
  runs: readonly WaitingRun[],
  { approvals, withdrawing }: { approvals: ReadonlyMap<string, ApprovalRow>; withdrawing: boolean },
): WaitingRun | null {
  // An earlier attempt at the turn has chosen. What it stored goes on from there.
  const [answer] = record?.answers ?? [];
  if (answer) return runs.find(({ turnId }) => turnId === answer.continues) ?? null;
  const isPending = ({ id }: PendingApproval) => approvals.get(id)?.status === 'pending';
  const decided = runs.find(({ calls }) => calls.some(({ id }) => byId.has(id)));
  const ready = runs.find(({ calls }) => !calls.some(isPending));
  // Of several whose calls are withdrawn together, the model hears of the last.
  if (kind === 'message') return decided ?? (withdrawing ? runs.at(-1) : ready) ?? null;
  return ready ?? null;
}
