import type { AgentRow } from '../../db/queries/agents/agents.ts';
import { configOf } from '../../domain/agents/config/config.ts';
import { type Feature, isEnabled } from '../../domain/agents/config/features.ts';
import type { components } from '../../generated/api.ts';
import { canSearchWeb } from '../../integrations/webSearch/settings.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type AgentFeature = components['schemas']['AgentFeature'];

/** The label of a feature: that it can do nothing on this server is said there. */
function labelOf({ key, label }: Feature, { webSearch }: Pick<Runtime, 'webSearch'>): string {
  return key === 'web-search' && !canSearchWeb(webSearch) ? `${label} (not configured on this server)` : label;
}

/** The feature of an agent as the contract shows it. */
export function featureBody(feature: Feature, agent: AgentRow, runtime: Pick<Runtime, 'webSearch'>): AgentFeature {
  const config = configOf(agent);
  return {
    key: feature.key,
    label: labelOf(feature, runtime),
    enabled: isEnabled(feature, config),
    config: Object.fromEntries(Object.entries(feature.settings).map(([name, field]) => [name, config[field]])),
  };
}
