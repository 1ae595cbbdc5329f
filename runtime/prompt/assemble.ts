import type { AgentScope } from '../agent/tool.ts';
import type { PromptContext } from '../capabilities/capability.ts';
import { capabilitySections } from '../capabilities/table.ts';

/** What goes into the system prompt beside the agent's own configuration. */
export interface PromptParts extends PromptContext {
  /** The agent's own prompt, its variables filled in. */
  instructions: string;
  /** The replies are read by people, and not by an agent that delegated the work. */
  talksToPeople: boolean;
}

/**
 * The system prompt of an agent: its own prompt, then the sections of its capabilities. The history, the tools and the message itself
 * go beside it (prompt/messages.ts, agent/toolset.ts).
 */
export function systemPrompt(scope: AgentScope, { instructions, talksToPeople, ...context }: PromptParts): string {
  const sections = [instructions, ...capabilitySections({ scope, talksToPeople }, context)];
  return sections.filter((section) => section.trim() !== '').join('\n\n');
}
