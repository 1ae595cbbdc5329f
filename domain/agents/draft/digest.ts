import { createHash } from 'node:crypto';
import type { DraftParts } from '../../../db/queries/agents/draftParts.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import { storedLinks } from './storedLinks.ts';
import { storedVariable } from './storedVariable.ts';

/** Names of what the agent refers to: they may change without a change of the agent. */
const NAMES: ReadonlySet<string> = new Set([
  'toolName',
  'toolType',
  'knowledgeSourceName',
  'skillName',
  'subAgentName',
  'serverName',
  'connectionName',
  'aiModelName',
]);
/** Sets without an order of their own: a link that is removed and made again leaves the state as it was. */
const UNORDERED = ['httpTools', 'knowledgeSources', 'skills', 'externalMcps', 'nativeMcps'] as const;

/**
 * A short text that is equal for equal editable states. The times of variables do not count, nor the names of linked things.
 * Stored digests are compared with it: the text that is hashed must not change.
 */
export function digestOf(config: AgentConfig, parts: DraftParts): string {
  const variables = parts.variables.map((row) => {
    const { createdAt: _created, updatedAt: _updated, ...variable } = storedVariable(row);
    return variable;
  });
  const links = storedLinks(parts.links, () => undefined);
  const sets = UNORDERED.map((name) => {
    const set: object[] = links[name];
    return [name, set.map((link) => JSON.stringify(link, withoutNames)).sort()];
  });
  const state = [{ ...config, ...links, ...Object.fromEntries(sets) }, variables];
  return createHash('sha256').update(JSON.stringify(state, withoutNames)).digest('base64url');
}

function withoutNames(key: string, value: unknown): unknown {
  return NAMES.has(key) ? undefined : value;
}
