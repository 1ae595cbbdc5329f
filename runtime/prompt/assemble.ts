import type { AgentScope } from '../agent/tool.ts';
import { capabilitySections } from '../capabilities/table.ts';

/**
 * The system prompt of an agent: its own prompt, then the sections of its capabilities. It is the same in every turn of a conversation,
 * so that providers find it in their caches. What changes with the message stands beside it (prompt/beside.ts); the history, the tools and
 * the message itself go beside the prompt (prompt/messages.ts, agent/toolset.ts).
 */
export function systemPrompt(scope: AgentScope): string {
  const sections = [scope.instructions, ...capabilitySections(scope)];
  return sections.filter((section) => section.trim() !== '').join('\n\n');
}
