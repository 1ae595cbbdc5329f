import { newId } from '../../core/ids.ts';
import type { AgentScope } from '../agent/tool.ts';
import { retrieve } from '../capabilities/knowledge.ts';
import { historyBytes } from '../prompt/messages.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { commandIn } from './command.ts';
import { decidesNothing, decisionsOf } from './decisions.ts';
import { findingsFor } from './findings.ts';
import { factsOfTurn, makeTurn } from './makeTurn.ts';
import { scopeOf } from './prepareAgent.ts';
import { readMessage } from './readMessage.ts';
import { takeAtOnce, takeConversation } from './takeConversation.ts';
import type { Beginning, Turn, TurnRequest } from './types.ts';

/**
 * Reads the message of a turn, takes its conversation, and searches the knowledge meanwhile: neither needs the other. `foundDead` as for
 * `takeConversation`. Throws what both throw.
 */
export async function beginTurn(turn: Turn, scope: AgentScope, foundDead: () => void): Promise<Beginning> {
  const { resources } = scope;
  const message = await readMessage(turn, scope);
  const knowledge = findingsFor(turn, scope, message.text);
  knowledge.catch(() => {});
  const taken = await takeConversation(turn, message.stored, {
    maxHistoryBytes: historyBytes(resources.model),
    foundDead,
  });
  return { resources, message, knowledge, ...taken };
}

/**
 * Begins a turn with one statement, when everything that it is made from is in memory: the statement begins it if what is known still
 * holds. Undefined when it does not hold, or when something must be read before the turn can begin; nothing is stored then.
 */
export async function beginAtOnce(context: WorkspaceRuntime, request: TurnRequest): Promise<Turn | undefined> {
  const { workspaceId, runtime } = context;
  const { agentId, conversationId, content, externalUserId } = request;
  const known = runtime.agents.get(`${workspaceId}/${agentId}`);
  if (!known || needsMore(request)) return undefined;
  const resources = runtime.resources.known(workspaceId, runtime, { agentId, ...known });
  if (!resources || (conversationId !== undefined && runtime.turns.isQueued(conversationId))) return undefined;
  // Of a conversation that is continued, only the id is known until it is taken.
  const facts = {
    externalUserId: externalUserId ?? newId(),
    channel: 'api' as const,
    connectionId: null,
    metadata: null,
    followUpsSent: 0,
    memories: [],
    mayBeOfClient: known.hasClients,
  };
  let turn: Turn;
  try {
    const decisions = decisionsOf(request);
    turn = makeTurn(context, 'message', request, { known, facts, command: null, decisions });
  } catch {
    // A variable is missing, or does not fit. The conversation may have it, and the agent may have changed.
    return undefined;
  }
  const scope = scopeOf(turn, resources);
  const knowledge = retrieve(scope, content);
  knowledge.catch(() => {});
  const message = await readMessage(turn, scope);
  if (!message.stored) return undefined;
  const isKnownUser = conversationId !== undefined || externalUserId !== undefined;
  const recalls = known.snapshot.longTermMemoryEnabled && isKnownUser;
  const taken = await takeAtOnce(turn, message.stored, {
    known,
    recalls,
    maxHistoryBytes: historyBytes(resources.model),
  });
  if (!taken) return undefined;
  const { conversation, memories, ...rest } = taken;
  const begun = { resources, message, knowledge, messageCount: conversation.message_count, ...rest };
  const { external_user_id, channel, connection_id: connectionId, metadata, follow_ups_sent } = conversation;
  const stored = {
    externalUserId: external_user_id,
    channel,
    connectionId,
    metadata,
    followUpsSent: follow_ups_sent,
    memories,
  };
  return { ...turn, ...factsOfTurn(known, request, stored, turn.present.at), begun };
}

/**
 * Whether something must be read before the turn can begin: attachments, the text of a slash command, the calls that a message decides,
 * or what an earlier attempt has stored.
 */
function needsMore(request: TurnRequest): boolean {
  return (
    request.attachments.length > 0 ||
    commandIn(request.content) !== null ||
    !decidesNothing(decisionsOf(request)) ||
    (request.keyed?.claim.begun ?? null) !== null ||
    request.prepared?.isStored === true ||
    request.inbound !== undefined
  );
}
