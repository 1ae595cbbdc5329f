import type { AgentScope, AgentTool } from '../agent/tool.ts';
import type { Capability, PromptContext, SubAgentFactory } from './capability.ts';
import { externalMcpsCapability } from './externalMcps.ts';
import { generativeUiCapability } from './generativeUi.ts';
import { handOverCapability } from './handOver.ts';
import { httpToolsCapability } from './httpTools.ts';
import { knowledgeCapability } from './knowledge.ts';
import { memoryCapability } from './memory.ts';
import { messageSplittingCapability } from './messageSplitting.ts';
import { nativeMcpsCapability } from './nativeMcps.ts';
import { sandboxCapability } from './sandbox.ts';
import { skillsCapability } from './skills.ts';
import { speechCapability } from './speech.ts';
import { subAgentsCapability } from './subAgents.ts';
import { webSearchCapability } from './webSearch.ts';

/**
 * Everything that an agent can have, in the order of the sections of the system prompt. A new capability is one module and one line
 * here.
 */
export const CAPABILITIES: readonly Capability[] = [
  messageSplittingCapability,
  speechCapability,
  webSearchCapability,
  sandboxCapability,
  generativeUiCapability,
  handOverCapability,
  knowledgeCapability,
  memoryCapability,
  skillsCapability,
  subAgentsCapability,
  httpToolsCapability,
  externalMcpsCapability,
  nativeMcpsCapability,
];

/** Their tools come before those of the others. Of two tools with one name, the first keeps it (see agent/toolNames.ts). */
const TOOLS_FIRST: readonly Capability[] = [knowledgeCapability, skillsCapability, memoryCapability];
const BY_TOOLS = [...TOOLS_FIRST, ...CAPABILITIES.filter((one) => !TOOLS_FIRST.includes(one))];

function isHeldBy(scope: AgentScope): (capability: Capability) => boolean {
  // People read the replies of the agent of the conversation, and not those of the agents that work for it.
  const talksToPeople = scope.path.length === 1;
  return ({ forPeopleOnly = false, isActive }) => (talksToPeople || !forPeopleOnly) && isActive(scope);
}

/** The tools of all capabilities that the agent has. */
export async function capabilityTools(scope: AgentScope, subAgent: SubAgentFactory): Promise<AgentTool[]> {
  const held = BY_TOOLS.filter(isHeldBy(scope));
  const tools = await Promise.all(held.map(async (one) => one.tools?.(scope, subAgent) ?? []));
  return tools.flat();
}

/** The sections of the system prompt of all capabilities that the agent has. */
export function capabilitySections(scope: AgentScope): string[] {
  return CAPABILITIES.filter(isHeldBy(scope)).flatMap((one) => one.section?.(scope) ?? []);
}

/** What all capabilities that the agent has put beside the message that is answered. */
export function capabilityContext(scope: AgentScope, context: PromptContext): string[] {
  return CAPABILITIES.filter(isHeldBy(scope)).flatMap((one) => one.beside?.(context, scope) ?? []);
}
