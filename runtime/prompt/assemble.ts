import type { AgentScope } from '../agent/tool.ts';
import type { PromptContext } from '../capabilities/capability.ts';
import { capabilitySections } from '../capabilities/table.ts';

/**
 * The system prompt of an agent: its own prompt, then the sections of its capabilities. The history, the tools and the message itself
 * go beside it (prompt/messages.ts, agent/toolset.ts).
 */
export function systemPrompt(scope: AgentScope, context: PromptContext): string {
  const sections = [scope.instructions, ...capabilitySections(scope, context)];
  return sections.filter((section) => section.trim() !== '').join('\n\n');
}
