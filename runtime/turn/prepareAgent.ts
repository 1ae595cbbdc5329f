import { fault } from '../../core/errors.ts';
import { listUserMemories } from '../../db/queries/conversations/memories.ts';
import type { AgentScope } from '../agent/tool.ts';
import { makeToolset, type Toolset } from '../agent/toolset.ts';
import { type AgentRun, callsLeft, type TurnWork } from '../agent/turnWork.ts';
import { retrieve } from '../capabilities/knowledge.ts';
import { capabilityTools } from '../capabilities/table.ts';
import { systemPrompt } from '../prompt/assemble.ts';
import { renderInstructions } from '../prompt/instructions.ts';
import type { LinkedSubAgent } from '../resources/resources.ts';

/** Where an agent stands in a turn. */
export interface AgentPlace {
  work: TurnWork;
  /** The agents that delegated down to this one, itself last: none of them is delegated to again. */
  path: readonly string[];
  /** Values of variables that the message brought: sub-agents get them too. */
  variables: Record<string, unknown>;
  /** Of the workspace, as it was when the turn began. */
  revision: number;
}

/** Everything that the agent's model can call. */
export async function toolsetOf(scope: AgentScope, place: AgentPlace): Promise<Toolset> {
  const { path } = place;
  const tools = await capabilityTools(
    { scope, talksToPeople: path.length === 1 },
    { path, prepare: (linked, task) => prepareSubAgent(scope, place, linked, task) },
  );
  return makeToolset(tools, { logger: scope.logger });
}

/** The sub-agent, ready to work on a task: its own published version, on the model of the link if that names one. */
async function prepareSubAgent(
  { db, workspaceId, runtime, logger, conversationId, externalUserId }: AgentScope,
  { work, path, variables, revision }: AgentPlace,
  { id: agentId, publishedVersionNumber: versionNumber, aiModelPublicId }: LinkedSubAgent,
  task: string,
): Promise<AgentRun> {
  callsLeft(work, path.length);
  const snapshot = await runtime.snapshot(db, workspaceId, agentId, versionNumber);
  if (!snapshot) throw fault('AGENT_NOT_PUBLISHED');
  const resources = await runtime.resources.get(db, workspaceId, runtime, {
    agentId,
    versionNumber,
    snapshot,
    revision,
  });
  const scope = { db, workspaceId, runtime, logger, conversationId, externalUserId, agentId, snapshot, resources };
  const model = aiModelPublicId === null ? resources.model : await runtime.findModel(db, workspaceId, aiModelPublicId);
  if (!model) throw fault('MODEL_PROVIDER_ERROR', 'Its AI model is no longer available.');
  const [knowledge, memories, toolset] = await Promise.all([
    retrieve(scope, task),
    snapshot.longTermMemoryEnabled ? listUserMemories(db, workspaceId, { agentId, externalUserId }) : [],
    toolsetOf(scope, { work, variables, revision, path: [...path, agentId] }),
  ]);
  // They were meant for the agent of the conversation: one that is no value of this agent's variable counts as not given.
  const instructions = renderInstructions(snapshot, undefined, { variables });
  const system = systemPrompt(scope, { instructions, knowledge, memories, talksToPeople: false });
  const before = [{ role: 'user' as const, content: task }];
  return { scope, depth: path.length, task, model, system, toolset, before, work };
}
