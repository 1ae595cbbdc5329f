import { ApiError } from '../../core/errors.ts';
import type { AgentRun, RunOutcome } from '../agent/agentRun.ts';
import { resumeAgent, runAgent } from '../agent/run.ts';
import type { AgentScope, AgentTool, Suspension, ToolCallContext, ToolOutput } from '../agent/tool.ts';
import type { Capability, SubAgentFactory } from './capability.ts';

/** Agents that stand above one another in a turn, the agent of the conversation included. */
const MAX_AGENTS_DEEP = 4;

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

/** Agents that this one can delegate to. */
export const subAgentsCapability = {
  name: 'subAgents',
  isActive: ({ resources }) => resources.subAgents.length > 0,
  tools: delegateTools,
} satisfies Capability;

/**
 * One tool for each sub-agent. An agent above it in the turn is left out, and so are all at the greatest depth: published versions
 * can form a ring, since links are checked when they are made.
 */
function delegateTools({ resources, path }: AgentScope, subAgent: SubAgentFactory): AgentTool[] {
  if (path.length >= MAX_AGENTS_DEEP) return [];
  return resources.subAgents
    .filter(({ id }) => !path.includes(id))
    .map((linked) => {
      const delegate = (
        task: string,
        { step: parentStep, record }: ToolCallContext,
        work: (run: AgentRun) => Promise<RunOutcome>,
      ) => survive(async () => outputOf(await work({ ...(await subAgent(linked, task)), parentStep, record })));
      return {
        name: `delegate_to_${linked.name}`,
        owner: null,
        description: `Delegates a task to the agent “${linked.name}” and answers with its result. ${linked.description}`,
        inputSchema: TASK_SCHEMA,
        origin: { kind: 'sub_agent', id: linked.id },
        requiresApproval: false,
        run: ({ task }, call) => delegate(String(task), call, runAgent),
        resume: (paused, call, resumption) =>
          delegate(paused.task, call, (run) => resumeAgent(run, paused, resumption)),
      };
    });
}

function outputOf({ text, paused }: RunOutcome): ToolOutput | Suspension {
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
