import { invalid } from '../../core/errors.ts';
import { pointerStep } from '../../core/jsonPointer.ts';
import { approvalsOfConversation, decideApprovals, findApprovals } from '../../db/queries/turns/approvals.ts';
import { type PausedRun, type Resumption, waitingCalls } from '../agent/paused.ts';
import type { Decisions, TurnContext, TurnRequest } from './types.ts';

const NONE: Decisions = { byId: new Map(), all: null };
const WORD = /^(approve|reject)$/i;

/** What a message decides by its text alone: all calls that wait. */
export function decisionIn(content: string): Decisions['all'] {
  return (WORD.exec(content.trim())?.[1]?.toLowerCase() as Decisions['all'] | undefined) ?? null;
}

/** What a message says of the calls that wait in its conversation. */
export function decisionsOf({ content, metadata }: Pick<TurnRequest, 'content' | 'metadata'>): Decisions {
  const given = metadata?.approvals as Record<string, 'approve' | 'reject'> | undefined;
  const all = decisionIn(content);
  if (given === undefined && all === null) return NONE;
  const byId = new Map(Object.entries(given ?? {}).map(([id, decision]) => [id.toLowerCase(), decision] as const));
  return { byId, all };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The decisions by approval: a word is about what waits when the message comes, and not about what the agent asks for until the
 * message has its turn. Throws VALIDATION_ERROR when a decision is about something that never waited in the conversation.
 */
export async function resolveDecisions(
  { db, workspaceId }: TurnContext,
  decisions: Decisions,
  conversationId: string | undefined,
): Promise<Decisions> {
  const { byId, all } = decisions;
  if (byId.size === 0 && (all === null || conversationId === undefined)) return decisions;
  const ids = [...byId.keys()].filter((id) => UUID.test(id));
  const known = conversationId === undefined ? [] : await approvalsOfConversation(db, workspaceId, conversationId, ids);
  const unknown = [...byId.keys()].find((each) => !known.some(({ id }) => id === each));
  if (unknown !== undefined) {
    throw invalid(`/body/metadata/approvals/${pointerStep(unknown)}`, 'is no approval of this conversation');
  }
  const meant =
    all === null ? [] : known.filter(({ status }) => status === 'pending').map(({ id }) => [id, all] as const);
  return { byId: new Map([...meant, ...byId]), all };
}

/**
 * Applies the decisions to what waits, and answers with all approvals of the paused run as they are then. A message that decides
 * nothing withdraws what waits: whoever wrote something else did not approve. One that names some leaves the others waiting.
 */
export async function applyDecisions(
  { db, workspaceId, runtime }: TurnContext,
  paused: PausedRun,
  { byId, all }: Decisions,
  mayWithdraw: boolean,
): Promise<Resumption> {
  const ids = waitingCalls(paused).map(({ id }) => id);
  const approved: string[] = [];
  const rejected: string[] = [];
  const withdrawing = mayWithdraw && all === null && !ids.some((id) => byId.has(id));
  for (const id of ids) {
    const decision = byId.get(id) ?? (withdrawing ? 'reject' : null);
    if (decision === 'approve') approved.push(id);
    if (decision === 'reject') rejected.push(id);
  }
  const now = runtime.clock.now();
  const decided =
    approved.length + rejected.length > 0
      ? await decideApprovals(db, workspaceId, { approved, rejected }, 'message', now)
      : [];
  const rows = await findApprovals(db, workspaceId, ids);
  return {
    approvals: new Map(rows.map((row) => [row.id, row])),
    withdrawn: new Set(withdrawing ? decided : []),
  };
}
