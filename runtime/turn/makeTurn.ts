import { newId } from '../../core/ids.ts';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import type { KnownWorkspace } from '../../db/queries/turns/knownWorkspace.ts';
import { MAX_MODEL_CALLS } from '../agent/agentRun.ts';
import { StepLog } from '../agent/stepLog.ts';
import { renderInstructions } from '../prompt/instructions.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { approvalsByOf } from './approvalsBy.ts';
import { messageContextOf } from './messageContext.ts';
import { paymentOf } from './payment.ts';
import type { Decisions, Turn, TurnRequest } from './types.ts';

/** What is known of an agent that can answer. It holds while the revision of its workspace is the same. */
export interface KnownAgent extends KnownWorkspace {
  /** The published version that `snapshot` is of. */
  versionNumber: number;
  snapshot: Snapshot;
}

/** What a turn needs to know of its conversation. */
export interface ConversationFacts {
  externalUserId: string;
  channel: ConversationRow['channel'];
  /** Null for a new conversation. */
  metadata: Record<string, unknown> | null;
  followUpsSent: number;
  connectionId: string | null;
  memories: readonly { id: string; fact: string }[];
  /** Whether a conversation that is continued may belong to a client. */
  mayBeOfClient: boolean;
}

/** The parts of a turn that the conversation's facts decide. Throws VALIDATION_ERROR and MISSING_VARIABLE. */
export function factsOfTurn(
  { snapshot, approvalsBy, timeZone }: KnownAgent,
  { metadata }: Pick<TurnRequest, 'metadata'>,
  {
    externalUserId,
    channel,
    connectionId,
    metadata: stored,
    followUpsSent,
    memories,
  }: Omit<ConversationFacts, 'mayBeOfClient'>,
  at: Date,
): Pick<
  Turn,
  | 'externalUserId'
  | 'channel'
  | 'connectionId'
  | 'approvalsBy'
  | 'followUpsSent'
  | 'memories'
  | 'instructions'
  | 'variables'
> {
  return {
    externalUserId,
    channel,
    approvalsBy: approvalsByOf(approvalsBy, channel, stored, metadata),
    connectionId,
    followUpsSent,
    memories,
    instructions: renderInstructions(snapshot, metadata?.variables, stored, { at, timeZone }),
    variables: { ...(stored?.variables as object | undefined), ...(metadata?.variables as object | undefined) },
  };
}

/** A turn that has not begun. Throws VALIDATION_ERROR and MISSING_VARIABLE. */
export function makeTurn(
  { db, workspaceId, runtime }: WorkspaceRuntime,
  kind: Turn['kind'],
  request: TurnRequest,
  of: { known: KnownAgent; facts: ConversationFacts; command: Turn['command']; decisions: Decisions },
): Turn {
  const { known, facts, command, decisions } = of;
  const turnId = newId();
  const present = { at: runtime.clock.now(), timeZone: known.timeZone };
  const conversationId = request.conversationId ?? request.prepared?.conversationId ?? newId();
  const held = { workspaceId, conversationId, turnId, attempt: 1 };
  return {
    db,
    runtime,
    ...held,
    kind,
    request,
    controller: new AbortController(),
    startedAt: performance.now(),
    versionNumber: known.versionNumber,
    snapshot: known.snapshot,
    present,
    context: messageContextOf(request.metadata),
    ...factsOfTurn(known, request, facts, present.at),
    revision: known.revision,
    command,
    decisions,
    timeZone: known.timeZone,
    // A continuation completes a turn that was counted.
    isLimited: known.isLimited && kind !== 'continuation',
    payment: paymentOf(request, known, facts),
    begun: null,
    record: undefined,
    countedAt: undefined,
    steps: new StepLog(db, held, runtime),
    approvals: [],
    isHandedOver: false,
    ui: null,
    modelCallsLeft: MAX_MODEL_CALLS,
  };
}
