import { fault } from '../../core/errors.ts';
import { selectUserMemories } from '../../db/queries/conversations/memories.ts';
import { type AgentRun, callsLeft } from '../agent/agentRun.ts';
import { prepareModelSchemas } from '../agent/modelSchema.ts';
import type { AgentScope } from '../agent/tool.ts';
import { makeToolsetInTurns, type Toolset } from '../agent/toolset.ts';
import { retrieve } from '../capabilities/knowledge.ts';
import { capabilityTools } from '../capabilities/table.ts';
import { withLearntWindow } from '../models/learntWindows.ts';
import { systemPrompt } from '../prompt/assemble.ts';
import { besideMessage } from '../prompt/beside.ts';
import { renderInstructions } from '../prompt/instructions.ts';
import { userMessage } from '../prompt/messages.ts';
import type { LinkedSubAgent, Resources } from '../resources/resources.ts';
import type { Turn } from './types.ts';

/** The agent of the turn's conversation. */
export async function agentOfTurn(turn: Turn): Promise<AgentScope> {
  if (turn.begun) return scopeOf(turn, turn.begun.resources);
  const { db, workspaceId, runtime, request, versionNumber, snapshot, revision } = turn;
  const subject = { agentId: request.agentId, versionNumber, snapshot, revision };
  return scopeOf(turn, await runtime.resources.get(db, workspaceId, runtime, subject));
}

/** The agent of the turn's conversation, with these resources. */
export function scopeOf(turn: Turn, resources: Resources): AgentScope {
  const { db, workspaceId, runtime, conversationId, channel, externalUserId, request, snapshot } = turn;
  const { agentId } = request;
  return {
    db,
    workspaceId,
    runtime,
    logger: runtime.logger,
    agentId,
    conversationId,
    channel,
    externalUserId,
    path: [agentId],
    snapshot,
    instructions: turn.instructions,
    resources,
  };
}

/** Everything that the agent's model can call. */
export async function toolsetOf(turn: Turn, scope: AgentScope): Promise<Toolset> {
  const tools = await capabilityTools(scope, (linked, task) => prepareSubAgent(turn, scope, linked, task));
  await prepareModelSchemas(tools.map(({ inputSchema }) => inputSchema));
  return makeToolsetInTurns(tools, { logger: scope.logger });
}

/** The sub-agent, ready to work on a task: its own published version, on the model of the link if the link names one. */
async function prepareSubAgent(
  turn: Turn,
  parent: AgentScope,
  { id: agentId, publishedVersionNumber: versionNumber, aiModelPublicId }: LinkedSubAgent,
  task: string,
): Promise<AgentRun> {
  const { db, workspaceId, runtime, externalUserId } = parent;
  const { variables, revision, present, context } = turn;
  callsLeft(turn, parent.path.length);
  const snapshot = await runtime.snapshot(db, workspaceId, agentId, versionNumber);
  if (!snapshot) throw fault('AGENT_NOT_PUBLISHED');
  const subject = { agentId, versionNumber, snapshot, revision };
  const resources = await runtime.resources.get(db, workspaceId, runtime, subject);
  const chosen = aiModelPublicId === null ? resources.model : await runtime.findModel(db, workspaceId, aiModelPublicId);
  const model = withLearntWindow({ models: runtime.models, workspaceId, now: runtime.clock.now() }, chosen);
  if (!model) throw fault('MODEL_PROVIDER_ERROR', 'The AI model of the agent is no longer available.');
  // The values were meant for the agent of the conversation. One that does not fit this agent's variable counts as not given.
  const instructions = renderInstructions(snapshot, undefined, { variables }, present);
  const scope = { ...parent, agentId, path: [...parent.path, agentId], snapshot, instructions, resources };
  const [knowledge, memories, toolset] = await Promise.all([
    retrieve(scope, task),
    snapshot.longTermMemoryEnabled ? selectUserMemories(db, workspaceId, { agentId, externalUserId }) : [],
    toolsetOf(turn, scope),
  ]);
  const beside = besideMessage(scope, { present, context, knowledge, memories });
  const before = [userMessage(task, [], beside)];
  const system = systemPrompt(scope);
  return { turn, scope, task, model, system, beside, knowledge, toolset, before, shown: null };
}
