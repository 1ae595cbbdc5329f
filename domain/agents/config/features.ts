import { fault } from '../../../core/errors.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import type { components } from '../../../generated/api.ts';
import type { ConfigField } from './config.ts';
import type { FieldPlace } from './rules.ts';

type AgentFeature = components['schemas']['AgentFeature'];

/** A field of the agent that is on or off. */
export type Toggle = { [Field in ConfigField]: AgentConfig[Field] extends boolean ? Field : never }[ConfigField];

/**
 * A feature as a view of the agent's fields. It is on while one of `toggles` is; switched on, the first of them is. `settings` are the
 * agent's fields by the names that the feature has for them; their schema is the one that `FeatureConfig` of the document names.
 */
export interface Feature {
  key: AgentFeature['key'];
  label: string;
  toggles: readonly [Toggle, ...Toggle[]];
  settings: Readonly<Record<string, ConfigField>>;
}

/** All features in their order. */
export const FEATURES: readonly Feature[] = [
  {
    key: 'follow-up',
    label: 'Follow-up',
    toggles: ['followUpEnabled'],
    settings: {
      afterHours: 'followUpAfterHours',
      inactivityMinutes: 'followUpInactivityMinutes',
      intervalMinutes: 'followUpIntervalMinutes',
      maxAttempts: 'followUpMaxAttempts',
      businessHoursStart: 'followUpBusinessHoursStart',
      businessHoursEnd: 'followUpBusinessHoursEnd',
      prompt: 'followUpPrompt',
    },
  },
  { key: 'message-splitting', label: 'Message splitting', toggles: ['messageSplittingEnabled'], settings: {} },
  {
    key: 'message-delay',
    label: 'Message delay',
    toggles: ['messageDelayEnabled'],
    settings: { type: 'messageDelayType' },
  },
  {
    key: 'long-term-memory',
    label: 'Long-term memory',
    toggles: ['longTermMemoryEnabled'],
    settings: { customInstructions: 'memoryCustomInstructions' },
  },
  { key: 'sandbox', label: 'Sandbox', toggles: ['sandboxEnabled'], settings: {} },
  { key: 'genui', label: 'Generative UI', toggles: ['genuiEnabled'], settings: {} },
  {
    key: 'audio',
    label: 'Audio',
    toggles: ['audioListeningEnabled', 'audioResponseEnabled'],
    settings: {
      listeningEnabled: 'audioListeningEnabled',
      responseEnabled: 'audioResponseEnabled',
      voice: 'ttsVoice',
    },
  },
  { key: 'web-search', label: 'Web search', toggles: ['webSearchEnabled'], settings: {} },
];

/** The feature with this key. Throws FEATURE_NOT_FOUND. */
export function findFeature(key: string): Feature {
  const feature = FEATURES.find((each) => each.key === key);
  if (!feature) throw fault('FEATURE_NOT_FOUND');
  return feature;
}

/** How a change of the feature calls the agent's fields. */
export function placeIn({ settings }: Feature): FieldPlace {
  const names = new Map(Object.entries(settings).map(([name, field]) => [field, name]));
  return (field) => {
    const name = names.get(field);
    return name === undefined ? { name: field, path: '/body' } : { name, path: `/body/config/${name}` };
  };
}

/** Whether the feature is on. */
export function isEnabled({ toggles }: Feature, config: AgentConfig): boolean {
  return toggles.some((toggle) => config[toggle]);
}
