import { createHash } from 'node:crypto';
import { mapInTurns } from '../../../core/ownTurn.ts';
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
/** Links that are written in one turn of the event loop: about a millisecond. */
const STRETCH = 500;
/** Sets without an order of their own: a link that is removed and made again leaves the state as it was. */
const UNORDERED: ReadonlySet<string> = new Set([
  'httpTools',
  'knowledgeSources',
  'skills',
  'externalMcps',
  'nativeMcps',
]);

/**
 * A short text that is equal for equal editable states. The times of variables do not count, nor the names of linked things.
 * Stored digests are compared with it: the text that is hashed must not change. It is the JSON of `[{ ...config, ...links }, variables]`, and is put
 * together by hand, because an agent may have thousands of links.
 */
export async function digestOf(config: AgentConfig, parts: DraftParts): Promise<string> {
  const hash = createHash('sha256').update(`[${JSON.stringify(config, withoutNames).slice(0, -1)}`);
  for (const [name, links] of Object.entries(storedLinks(parts.links, () => undefined))) {
    const texts = await mapInTurns<object, string>(links, STRETCH, (link) => JSON.stringify(link, withoutNames));
    const isSet = UNORDERED.has(name);
    if (isSet) texts.sort();
    const items = isSet ? await mapInTurns(texts, STRETCH, (text) => JSON.stringify(text)) : texts;
    hash.update(`,"${name}":[${items.join()}]`);
  }
  const variables = await mapInTurns(parts.variables, STRETCH, (row) => {
    const { createdAt: _created, updatedAt: _updated, ...variable } = storedVariable(row);
    return JSON.stringify(variable, withoutNames);
  });
  return hash.update(`},[${variables.join()}]]`).digest('base64url');
}

function withoutNames(key: string, value: unknown): unknown {
  return NAMES.has(key) ? undefined : value;
}
