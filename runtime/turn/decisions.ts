import type { Kysely } from 'kysely';
import { invalid } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { pointerStep } from '../../core/jsonPointer.ts';
import { selectConversationApprovals } from '../../db/queries/turns/approvals.ts';
import type { DB } from '../../generated/db.ts';
import type { ApprovalsBy } from './approvalsBy.ts';
import { decisionIn } from './decisionWords.ts';
import type { Decisions, TurnRequest } from './types.ts';

const NONE: Decisions = { byId: new Map(), all: null };
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
 * The decisions by approval. Where an operator decides, the words of a message decide nothing: they are the end user's.
 * `metadata.approvals` still does, since whoever holds the workspace's key speaks for the workspace. A word alone decides the calls that
 * waited when the message arrived, and not those that the agent asks for before the message has its turn. Throws VALIDATION_ERROR when an id is no approval of the conversation.
 */
export async function resolveDecisions(
  db: Kysely<DB>,
  workspaceId: string,
  decisions: Decisions,
  {
    conversationId,
    approvalsBy,
    arrivedAt,
  }: { conversationId: string | undefined; approvalsBy: ApprovalsBy; arrivedAt: Date },
): Promise<Decisions> {
  const { byId } = decisions;
  const all = approvalsBy === 'user' ? decisions.all : null;
  if (byId.size === 0 && (all === null || conversationId === undefined)) return { byId, all };
  const ids = [...byId.keys()].filter(isUuid);
  const known =
    conversationId === undefined ? [] : await selectConversationApprovals(db, workspaceId, conversationId, ids);
  const unknown = [...byId.keys()].find((each) => !known.some(({ id }) => id === each));
  if (unknown !== undefined) {
    throw invalid(`/body/metadata/approvals/${pointerStep(unknown)}`, 'is no approval of this conversation');
  }
  const byWord =
    all === null
      ? []
      : known
          .filter(({ status, requested_at }) => status === 'pending' && requested_at <= arrivedAt)
          .map(({ id }) => [id, all] as const);
  return { byId: new Map([...byWord, ...byId]), all };
}
