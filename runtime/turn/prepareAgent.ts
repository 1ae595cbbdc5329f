import { ApiError, fault } from '../../core/errors.ts';
import { listUserMemories } from '../../db/queries/conversations/memories.ts';
import { resumeAgent, runAgent } from '../agent/run.ts';
import type { AgentScope, AgentTool, Suspension, ToolOutput } from '../agent/tool.ts';
import { makeToolset, type Toolset } from '../agent/toolset.ts';
import { type AgentRun, callsLeft, type RunOutcome, type TurnWork } from '../agent/turnWork.ts';
import { externalMcpTools } from '../capabilities/externalMcps.ts';
import { uiTools } from '../capabilities/generativeUi.ts';
import { httpTools } from '../capabilities/httpTools.ts';
import { knowledgeTools, retrieve } from '../capabilities/knowledge.ts';
import { memoryTools } from '../capabilities/memory.ts';
import { nativeMcpTools } from '../capabilities/nativeMcps.ts';
import { sandboxTools } from '../capabilities/sandbox.ts';
import { skillTools } from '../capabilities/skills.ts';
import { webSearchTools } from '../capabilities/webSearch.ts';
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

/** Agents that stand above one another in a turn, the agent of the conversation included. */
const MAX_AGENTS_DEEP = 4;

/** Everything that the agent's model can call. */
export async function toolsetOf(scope: AgentScope, place: AgentPlace): Promise<Toolset> {
  const talksToPeople = place.path.length === 1;
  return makeToolset(
    [
      ...knowledgeTools(scope),
      ...skillTools(scope),
      ...memoryTools(scope),
      ...webSearchTools(scope),
      ...sandboxTools(scope),
      ...(talksToPeople ? uiTools(scope) : []),
      ...subAgentTools(scope, place),
      ...httpTools(scope),
      ...externalMcpTools(scope),
      ...(await nativeMcpTools(scope)),
    ],
    { logger: scope.logger },
  );
}

const TASK_SCHEMA = {
  type: 'object',
  properties: {
    task: {
      type: 'string',
      minLength: 1,
      maxLength: 32_000,
      description: 'What to do, with everything that is needed for it: the agent sees nothing of this conversation.',
    },
  },
  required: ['task'],
  additionalProperties: false,
};

/** Failures of a sub-agent that its parent can live with; others end the turn. */
const SURVIVABLE = new Set(['MODEL_PROVIDER_ERROR', 'MISSING_VARIABLE', 'AGENT_NOT_PUBLISHED']);

/**
 * The agents that this one can delegate to, each a tool. An agent above it in the turn is left out, and so are all at the greatest
 * depth: published versions can form a ring, since links are checked when they are made.
 */
function subAgentTools(scope: AgentScope, place: AgentPlace): AgentTool[] {
  if (place.path.length >= MAX_AGENTS_DEEP) return [];
  return scope.resources.subAgents
    .filter(({ id }) => !place.path.includes(id))
    .map((linked) => {
      const delegate = (task: string, work: (run: AgentRun) => Promise<RunOutcome>) =>
        survive(async () => answerOf(await work(await prepareSubAgent(scope, place, linked, task))));
      return {
        name: `delegate_to_${linked.name}`,
        owner: null,
        description: `Delegates a task to the agent “${linked.name}” and answers with its result. ${linked.description}`,
        inputSchema: TASK_SCHEMA,
        origin: { kind: 'sub_agent', id: linked.id },
        requiresApproval: false,
        run: ({ task }) => delegate(String(task), runAgent),
        resume: (paused, _call, resumption) => delegate(paused.task, (run) => resumeAgent(run, paused, resumption)),
      };
    });
}

function answerOf({ text, paused }: RunOutcome): ToolOutput | Suspension {
  if (paused) return { paused };
  return { text: text === '' ? 'The agent gave no answer.' : text, isError: false };
}

async function survive(work: () => Promise<ToolOutput | Suspension>): Promise<ToolOutput | Suspension> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || !SURVIVABLE.has(error.code)) throw error;
    const text = `The agent could not do it: ${error.message} Calls of tools that it made before stay made.`;
    return { text, isError: true };
  }
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
