import type { AgentScope } from '../agent/tool.ts';
import { retrieve } from '../capabilities/knowledge.ts';
import type { KnowledgeFindings } from '../knowledge/search.ts';
import { decisionIn } from './decisionWords.ts';
import type { Turn } from './types.ts';

/** What a turn has found that searches for nothing. */
const NOTHING_SEARCHED: KnowledgeFindings = { query: '', hits: [], isIncomplete: false };

/**
 * What the knowledge has for the message of a turn, as `text` puts it. A turn without a message searches for nothing, and neither does a
 * word such as “approve” that decides calls which wait: passages about the word say nothing of the calls. Throws what `retrieve` throws.
 */
export function findingsFor(
  { kind, decisions }: Pick<Turn, 'kind' | 'decisions'>,
  scope: AgentScope,
  text: string,
): Promise<KnowledgeFindings> {
  const isDecision = decisions.byId.size > 0 && decisionIn(text) !== null;
  return kind === 'message' && !isDecision ? retrieve(scope, text) : Promise.resolve(NOTHING_SEARCHED);
}
