import type { AgentScope } from '../agent/tool.ts';
import { audioSection } from '../audio/speak.ts';
import { generativeUiSection } from '../capabilities/generativeUi.ts';
import { knowledgeSection } from '../capabilities/knowledge.ts';
import { memorySection } from '../capabilities/memory.ts';
import { sandboxSection } from '../capabilities/sandbox.ts';
import { skillsSection } from '../capabilities/skills.ts';
import { webSearchSection } from '../capabilities/webSearch.ts';
import type { KnowledgeHit } from '../knowledge/search.ts';
import { splittingSection } from '../replies/split.ts';

/** What goes into the system prompt beside the agent's own configuration. */
export interface PromptParts {
  /** The agent's own prompt, its variables filled in. */
  instructions: string;
  /** Passages that answer the message. */
  knowledge: readonly KnowledgeHit[];
  /** What is known of the end user. */
  memories: readonly { id: string; fact: string }[];
  /** The replies are read by people, and not by an agent that delegated the work. */
  talksToPeople: boolean;
}

/**
 * The system prompt of an agent. In its order: the agent's own prompt, what its features ask of it, knowledge, memory, the index of
 * its skills. What was said before, the tools and the message itself go beside it (prompt/messages.ts, agent/toolset.ts).
 */
export function systemPrompt({ snapshot, resources, runtime }: AgentScope, parts: PromptParts): string {
  const { instructions, knowledge, memories, talksToPeople } = parts;
  const sections = [
    instructions,
    talksToPeople && snapshot.messageSplittingEnabled ? splittingSection() : '',
    talksToPeople && snapshot.audioResponseEnabled ? audioSection() : '',
    snapshot.webSearchEnabled ? webSearchSection(runtime.webSearch) : '',
    snapshot.sandboxEnabled ? sandboxSection() : '',
    talksToPeople && snapshot.genuiEnabled ? generativeUiSection() : '',
    knowledgeSection(knowledge, { hasSources: resources.knowledgeSourceIds.length > 0 }),
    snapshot.longTermMemoryEnabled ? memorySection(memories, snapshot.memoryCustomInstructions) : '',
    skillsSection(resources.skills),
  ];
  return sections.filter((section) => section.trim() !== '').join('\n\n');
}
