import type { AgentRun } from '../agent/agentRun.ts';
import type { AgentScope, AgentTool } from '../agent/tool.ts';
import type { KnowledgeFindings } from '../knowledge/search.ts';
import type { LinkedSubAgent } from '../resources/resources.ts';

/** What was looked up for one message. It stands beside that message (prompt/beside.ts). */
export interface PromptContext {
  /** What the agent's sources say of the message. */
  knowledge: KnowledgeFindings;
  /** Facts about the end user, newest change first. */
  memories: readonly { id: string; fact: string }[];
  /** What stood beside earlier messages, as far as the model is still shown it, oldest first. It need not be said again. */
  earlier?: readonly string[];
}

/** Makes a sub-agent ready to work on a task in this turn. Throws what `runAgent` throws, AGENT_NOT_PUBLISHED and MISSING_VARIABLE. */
export type SubAgentFactory = (linked: LinkedSubAgent, task: string) => Promise<AgentRun>;

/** Something that an agent can have: tools, a section of the system prompt, something beside each message, or several of them. */
export interface Capability {
  name: string;
  /** It shapes what people read: an agent that works for another agent does not have it. */
  forPeopleOnly?: boolean;
  /** Whether this agent has it: by its published version, or because something is linked. */
  isActive(scope: AgentScope): boolean;
  /** The tools of an agent that has it. */
  tools?(scope: AgentScope, subAgent: SubAgentFactory): readonly AgentTool[] | Promise<readonly AgentTool[]>;
  /**
   * The section of the system prompt of an agent that has it: a Markdown heading and paragraphs. It is the same in every turn, so that
   * providers find the prompt in their caches.
   */
  section?(scope: AgentScope): string;
  /** What stands beside the message that is answered: a Markdown heading and paragraphs, or '' when there is nothing to say. */
  beside?(context: PromptContext, scope: AgentScope): string;
}
