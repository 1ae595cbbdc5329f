import type { Kysely } from 'kysely';
import { invalid } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { pointerStep } from '../../core/jsonPointer.ts';
import { decideApprovals, findApprovals, selectConversationApprovals } from '../../db/queries/turns/approvals.ts';
import type { DB } from '../../generated/db.ts';
import { type PausedRun, type Resumption, waitingCalls } from '../agent/paused.ts';
import type { Decisions, Turn, TurnRequest } from './types.ts';

const NONE: Decisions = { byId: new Map(), all: null };
const WORD = /^(approve|reject)$/i;

/** The decision about all calls that wait, when the text is such a decision and nothing else. */
export function decisionIn(content: string): Decisions['all'] {
  return (WORD.exec(content.trim())?.[1]?.toLowerCase() as Decisions['all'] | undefined) ?? null;
}

/** The decisions of a message: by `metadata.approvals`, or by its text. */
export function decisionsOf({ content, metadata }: Pick<TurnRequest, 'content' | 'metadata'>): Decisions {
  const byMetadata = (metadata?.approvals ?? undefined) as Record<string, 'approve' | 'reject'> | undefined;
  const all = decisionIn(content);
  if (byMetadata === undefined && all === null) return NONE;
  const byId = new Map(Object.entries(byMetadata ?? {}).map(([id, decision]) => [id.toLowerCase(), decision] as const));
  return { byId, all };
}

/** Whether a message with these decisions is an ordinary one. */
export function decidesNothing({ byId, all }: Decisions): boolean {
  return byId.size === 0 && all === null;
}

/**
 * The decisions by approval. A word alone decides the calls that wait now, when the message arrives, and not those that the agent asks
 * for before the message has its turn. Throws VALIDATION_ERROR when an id is no approval of the conversation.
 */
export async function resolveDecisions(
  db: Kysely<DB>,
  workspaceId: string,
  decisions: Decisions,
  conversationId: string | undefined,
): Promise<Decisions> {
  const { byId, all } = decisions;
  if (byId.size === 0 && (all === null || conversationId === undefined)) return decisions;
  const ids = [...byId.keys()].filter(isUuid);
  const known =
    conversationId === undefined ? [] : await selectConversationApprovals(db, workspaceId, conversationId, ids);
  const unknown = [...byId.keys()].find((each) => !known.some(({ id }) => id === each));
  if (unknown !== undefined) {
    throw invalid(`/body/metadata/approvals/${pointerStep(unknown)}`, 'is no approval of this conversation');
  }
  const byWord =
    all === null ? [] : known.filter(({ status }) => status === 'pending').map(({ id }) => [id, all] as const);
  return { byId: new Map([...byWord, ...byId]), all };
}

/**
 * Applies the turn's decisions to the calls of the paused run, and returns all its approvals as they are then. A message that decides
 * nothing withdraws the calls: whoever wrote something else did not approve. A message that names some leaves the others waiting.
 */
export async function applyDecisions(
  { db, workspaceId, runtime, kind, decisions: { byId, all } }: Turn,
  paused: PausedRun,
): Promise<Resumption> {
  const ids = waitingCalls(paused).map(({ id }) => id);
  const approved: string[] = [];
  const rejected: string[] = [];
  const withdrawing = kind === 'message' && all === null && !ids.some((id) => byId.has(id));
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
