import { fault } from '../../../core/errors.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import type { components } from '../../../generated/api.ts';
import type { ConfigField } from './config.ts';
import type { FieldPlace } from './rules.ts';

type AgentFeature = components['schemas']['AgentFeature'];

/** A field of the agent that is on or off. */
export type Toggle = { [Field in ConfigField]: AgentConfig[Field] extends boolean ? Field : never }[ConfigField];

/** A setting of a feature: the agent's field that it shows, and its bounds as JSON Schema. */
export interface Setting {
  field: ConfigField;
  bounds: object;
}

/** A feature as a view of the agent's fields. It is on while one of `toggles` is; switched on, the first of them is. */
export interface Feature {
  key: AgentFeature['key'];
  label: string;
  toggles: readonly [Toggle, ...Toggle[]];
  settings: Readonly<Record<string, Setting>>;
}

const flag = { type: ['boolean', 'null'] };
const longText = { type: ['string', 'null'], maxLength: 10_000 };
const timeOfDay = { type: ['string', 'null'], pattern: '^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d$' };
const whole = (minimum: number, maximum: number) => ({ type: ['integer', 'null'], minimum, maximum });

/** All features in their order. The bounds are those of `AgentUpdate` in the document, which a test holds them to. */
export const FEATURES: readonly Feature[] = [
  {
    key: 'follow-up',
    label: 'Follow-up',
    toggles: ['followUpEnabled'],
    settings: {
      afterHours: { field: 'followUpAfterHours', bounds: whole(0, 720) },
      inactivityMinutes: { field: 'followUpInactivityMinutes', bounds: whole(1, 1440) },
      intervalMinutes: { field: 'followUpIntervalMinutes', bounds: whole(1, 10_080) },
      maxAttempts: { field: 'followUpMaxAttempts', bounds: whole(1, 10) },
      businessHoursStart: { field: 'followUpBusinessHoursStart', bounds: timeOfDay },
      businessHoursEnd: { field: 'followUpBusinessHoursEnd', bounds: timeOfDay },
      prompt: { field: 'followUpPrompt', bounds: longText },
    },
  },
  { key: 'message-splitting', label: 'Message splitting', toggles: ['messageSplittingEnabled'], settings: {} },
  {
    key: 'message-delay',
    label: 'Message delay',
    toggles: ['messageDelayEnabled'],
    settings: { type: { field: 'messageDelayType', bounds: { enum: ['LOW', 'MEDIUM', 'HIGH', 'RANDOM', null] } } },
  },
  {
    key: 'long-term-memory',
    label: 'Long-term memory',
    toggles: ['longTermMemoryEnabled'],
    settings: { customInstructions: { field: 'memoryCustomInstructions', bounds: longText } },
  },
  { key: 'sandbox', label: 'Sandbox', toggles: ['sandboxEnabled'], settings: {} },
  { key: 'genui', label: 'Generative UI', toggles: ['genuiEnabled'], settings: {} },
  {
    key: 'audio',
    label: 'Audio',
    toggles: ['audioListeningEnabled', 'audioResponseEnabled'],
    settings: {
      listeningEnabled: { field: 'audioListeningEnabled', bounds: flag },
      responseEnabled: { field: 'audioResponseEnabled', bounds: flag },
      voice: { field: 'ttsVoice', bounds: { type: ['string', 'null'], maxLength: 100 } },
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
  const names = new Map(Object.entries(settings).map(([name, { field }]) => [field, name]));
  return (field) => {
    const name = names.get(field);
    return name === undefined ? { name: field, path: '/body' } : { name, path: `/body/config/${name}` };
  };
}

/** Whether the feature is on. */
export function isEnabled({ toggles }: Feature, config: AgentConfig): boolean {
  return toggles.some((toggle) => config[toggle]);
}
