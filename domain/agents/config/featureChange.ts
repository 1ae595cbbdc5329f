import { fault } from '../../../core/errors.ts';
import { checkForm } from '../../../core/namedSchemas.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import type { components } from '../../../generated/api.ts';
import type { ConfigChange } from './changeConfig.ts';
import { type Feature, isEnabled } from './features.ts';

/** Throws FEATURE_VALIDATION_ERROR with the place of each setting that the feature does not have or that is out of bounds. */
function checkSettings(feature: Feature, config: Record<string, unknown>): void {
  const { faults } = checkForm('FeatureConfig', feature.key, config, '/body/config');
  if (faults.length === 0) return;
  throw fault('FEATURE_VALIDATION_ERROR', 'Settings of the feature are not valid. See details.', { details: faults });
}

/** The fields that the settings change; null in place of the settings clears them all. */
function settingsChange({ settings }: Feature, config: Record<string, unknown> | null): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(settings)) {
    if (config === null) change[field] = null;
    else if (Object.hasOwn(config, name)) change[field] = config[name];
  }
  return change;
}

/**
 * Translates a change of a feature into a change of the agent's own fields. `present` are the fields before it. The rules
 * across fields are those of every change of an agent and are not checked here. Throws FEATURE_VALIDATION_ERROR when a
 * setting is unknown or out of bounds, or when the switch says the opposite of the settings.
 */
export function featureChange(
  feature: Feature,
  { enabled, config }: components['schemas']['AgentFeatureUpdate'],
  present: AgentConfig,
): ConfigChange {
  if (config) checkSettings(feature, config);
  const change = config === undefined ? {} : settingsChange(feature, config);
  if (enabled === undefined) return change as ConfigChange;
  const { toggles } = feature;
  // Toggles that the settings name one by one; null in place of all settings names none.
  const named = config ? toggles.filter((toggle) => change[toggle] !== undefined) : [];
  if (!enabled) {
    if (named.some((toggle) => change[toggle])) {
      throw fault(
        'FEATURE_VALIDATION_ERROR',
        'A part of the feature cannot be switched on while the feature is switched off.',
      );
    }
    for (const toggle of toggles) change[toggle] = false;
    return change as ConfigChange;
  }
  const after = { ...present, ...change } as AgentConfig;
  if (!isEnabled(feature, after)) {
    if (named.length > 0) {
      throw fault(
        'FEATURE_VALIDATION_ERROR',
        'The feature cannot be switched on while all of its parts are switched off.',
      );
    }
    change[toggles[0]] = true;
  }
  return change as ConfigChange;
}
