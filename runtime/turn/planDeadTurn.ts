import { ApiError, fault } from '../../core/errors.ts';
import { selectHistory } from '../../db/queries/conversations/history.ts';
import { type DeadTurn, interruptTurn, takeDeadTurn } from '../../db/queries/turns/deadTurns.ts';
import { failTurn } from '../../db/queries/turns/finishTurn.ts';
import { findTurnSubject } from '../../db/queries/turns/turnSubject.ts';
import { MAX_MODEL_CALLS } from '../agent/agentRun.ts';
import { BEGUN_AND_UNKNOWN } from '../agent/callTexts.ts';
import { StepLog } from '../agent/stepLog.ts';
import { earlierSteps, effectsOf, type RunRecord, recordOf, UnknownSteps } from '../agent/storedSteps.ts';
import { historyBytes } from '../prompt/messages.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { findingsFor } from './findings.ts';
import { makeTurn } from './makeTurn.ts';
import { stateRefusal } from './planTurn.ts';
import { scopeOf } from './prepareAgent.ts';
import { readAgain } from './readAgain.ts';
import type { Turn } from './types.ts';

/** Nobody waits for it any more, or somebody who sent the request again. */
const TIMEOUT_MS = 300_000;
/** Processes that may die in one turn: it may be what kills them. */
export const MAX_TURN_ATTEMPTS = 3;
/** A turn that is found later than this after it began answers nothing that somebody still waits for. */
const MAX_AGE_MS = 24 * 3_600_000;

/**
 * Takes over the turn that holds the conversation, if its process has died. It can be called at any time, by any number of processes: one of
 * them gets the turn, which has begun, and must run it. A turn that cannot be gone on with is ended here, with the reason. Undefined then, and
 * when there is none.
 */
export async function planDeadTurn(context: WorkspaceRuntime, conversationId: string): Promise<Turn | undefined> {
  const { db, workspaceId, runtime } = context;
  // A process that had no database for a while renews the lease of its own turn.
  if (runtime.turns.holds(conversationId)) return undefined;
  const dead = await takeDeadTurn(db, workspaceId, conversationId, BEGUN_AND_UNKNOWN);
  if (!dead) return undefined;
  const { held } = dead;
  const controller = new AbortController();
  try {
    const record = recordUnlessOver(dead, runtime.clock.now());
    return await runtime.turns.holding(held, controller, () => turnOf(context, dead, record, controller));
  } catch (error) {
    const { turnId } = held;
    runtime.logger?.warn({ workspaceId, turnId, err: error }, 'a turn whose process died is not gone on with');
    if (error instanceof GivenUp)
      await interruptTurn(db, held, { reason: error.message, now: runtime.clock.now(), countedAt: countedAt(dead) });
    else await storeEnd(context, dead, error instanceof ApiError ? error : fault('INTERNAL_ERROR'));
    return undefined;
  }
}

/** Thrown for a turn that nobody goes on with. The message is stored with the turn. */
class GivenUp extends Error {}

/** What the earlier attempts stored. Throws GivenUp. */
function recordUnlessOver({ held, turn, steps }: DeadTurn, now: Date): RunRecord {
  if (held.attempt > MAX_TURN_ATTEMPTS) throw new GivenUp(`The process that ran it died ${MAX_TURN_ATTEMPTS} times.`);
  if (now.getTime() - turn.started_at.getTime() > MAX_AGE_MS)
    throw new GivenUp('The process that ran it died, and no other found it within a day.');
  try {
    return recordOf(steps);
  } catch (error) {
    if (!(error instanceof UnknownSteps)) throw error;
    throw new GivenUp(
      'The process that ran it died. It was of another release, and this one cannot go on from its steps.',
    );
  }
}

/** The turn as it goes on. Throws the error of a state that forbids it now. */
async function turnOf(
  context: WorkspaceRuntime,
  dead: DeadTurn,
  record: RunRecord,
  controller: AbortController,
): Promise<Turn> {
  const { db, workspaceId, runtime } = context;
  const { held, conversation, turn: row, steps, messages, waiting } = dead;
  const { conversationId } = held;
  const now = runtime.clock.now();
  const subject = await findTurnSubject(db, workspaceId, {
    agentId: row.agent_id,
    conversationId,
    externalUserId: null,
    command: null,
    now,
  });
  if (!subject) throw fault('AGENT_NOT_FOUND');
  if (subject.conversation_id === null) throw fault('CONVERSATION_NOT_FOUND');
  const refusal = stateRefusal(subject);
  if (refusal) throw refusal;
  // The version that it began with, whichever is published now: its calls were made by those tools.
  const snapshot = await runtime.snapshot(db, workspaceId, row.agent_id, row.version_number);
  if (!snapshot) throw fault('AGENT_NOT_PUBLISHED');
  const {
    revision,
    time_zone: timeZone,
    operation_limit,
    approvals_by: approvalsBy,
    has_clients,
    has_budgets,
  } = subject;
  const asked = row.request;
  const known = {
    versionNumber: row.version_number,
    snapshot,
    revision,
    timeZone,
    isLimited: operation_limit !== null,
    approvalsBy,
    hasClients: has_clients,
    hasBudgets: has_budgets,
  };
  const request = {
    agentId: row.agent_id,
    conversationId,
    content: asked?.content ?? '',
    attachments: [],
    externalUserId: undefined,
    isTest: false,
    metadata: asked?.metadata,
    timeoutMs: TIMEOUT_MS,
    autoApprove: asked?.autoApprove === true,
  };
  const decisions = { byId: new Map(asked?.decisions?.byId), all: asked?.decisions?.all ?? null };
  const facts = {
    externalUserId: conversation.external_user_id,
    channel: conversation.channel,
    connectionId: conversation.connection_id,
    metadata: conversation.metadata,
    followUpsSent: conversation.follow_ups_sent,
    memories: subject.memories,
    mayBeOfClient: conversation.client_id !== null,
  };
  const { ui = null, handedOver = false } = effectsOf(steps);
  const turn: Turn = {
    ...makeTurn(context, row.kind, request, { known, facts, command: null, decisions }),
    ...held,
    controller,
    startedAt: performance.now() - Math.max(0, now.getTime() - row.started_at.getTime()),
    countedAt: countedAt(dead),
    steps: new StepLog(db, held, runtime, earlierSteps(steps)),
    isHandedOver: handedOver,
    ui,
    modelCallsLeft: MAX_MODEL_CALLS - steps.filter(({ kind }) => kind === 'model').length,
    record,
  };
  const resources = await runtime.resources.get(db, workspaceId, runtime, { ...known, agentId: row.agent_id });
  const { model } = resources;
  const message =
    row.kind === 'message' && model
      ? await readAgain(context, messages, { model, signal: controller.signal, files: asked?.files })
      : { text: request.content, attachments: [], stored: null };
  const history = await selectHistory(db, workspaceId, conversationId, {
    maxBytes: historyBytes(model),
    answered: messages.map(({ id }) => id),
    before: messages[0]?.seq ?? null,
  });
  const scope = scopeOf(turn, resources);
  const knowledge = findingsFor(turn, scope, message.text);
  knowledge.catch(() => {});
  const begun = { resources, message, knowledge, history, waiting, messageCount: conversation.message_count };
  return { ...turn, begun: { ...begun, release: () => {} } };
}

/** When the turn took one from the quota of the month; undefined when it took none. */
function countedAt({ turn: { request, started_at } }: DeadTurn): Date | undefined {
  return request?.isCounted ? started_at : undefined;
}

/** Stores why the turn ends. */
async function storeEnd({ db, runtime }: WorkspaceRuntime, dead: DeadTurn, error: ApiError): Promise<void> {
  const { held, steps } = dead;
  const { code, message } = error;
  await failTurn(db, held, {
    code,
    message,
    usage: earlierSteps(steps).usage,
    steps: [],
    now: runtime.clock.now(),
    pause: null,
    // It may have reserved something, whatever is known of its conversation.
    isPaid: true,
    countedAt: countedAt(dead),
  });
}
