import { fault } from '../../../core/errors.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import type { ModelDescriptor } from '../../../runtime/models/catalogue.ts';
import type { ConfigField } from './config.ts';

/** How a request calls a field of an agent, and where in it the field stands, as a JSON Pointer. */
export type FieldPlace = (field: ConfigField) => { name: string; path: string };

/** The names and places that the operations on agents use. */
const AGENT_FIELD: FieldPlace = (field) => ({ name: field, path: `/body/${field}` });

/** Throws FEATURE_VALIDATION_ERROR, in the terms of the request, when the feature settings of an agent contradict each other. */
export function checkFeatures(config: AgentConfig, placeOf: FieldPlace = AGENT_FIELD): void {
  const name = (field: ConfigField) => placeOf(field).name;
  const refuse = (message: string, fields: readonly ConfigField[], wrong: string) => {
    const details = fields.map((field) => ({ path: placeOf(field).path, message: wrong, keyword: 'rule' }));
    return fault('FEATURE_VALIDATION_ERROR', message, { details });
  };

  const needed = ['followUpMaxAttempts', 'followUpIntervalMinutes'] as const;
  const missing = needed.filter((field) => config[field] === null);
  if (config.followUpEnabled && missing.length > 0)
    throw refuse(`Follow-ups need ${needed.map(name).join(' and ')}.`, missing, 'is needed for follow-ups');

  const { followUpBusinessHoursStart: start, followUpBusinessHoursEnd: end } = config;
  const [opens, closes] = ['followUpBusinessHoursStart', 'followUpBusinessHoursEnd'] as const;
  if ((start === null) !== (end === null)) {
    const [given, absent] = start === null ? [closes, opens] : [opens, closes];
    const message = 'Business hours come as a pair: give both, or neither.';
    throw refuse(message, [absent], `must be given with ${name(given)}`);
  }
  if (start !== null && end !== null && start >= end)
    throw refuse('Business hours must start before they end.', [closes], `must be after ${name(opens)}`);

  if (config.audioResponseEnabled && !config.ttsVoice?.trim())
    throw refuse(`Audio responses need a ${name('ttsVoice')}.`, ['ttsVoice'], 'is needed for audio responses');
}

/** Throws TEMPERATURE_NOT_SUPPORTED or THINKING_NOT_SUPPORTED when the model does not support the agent's settings. */
export function checkModelSettings(
  config: Pick<AgentConfig, 'temperature' | 'thinkingEnabled'>,
  model: ModelDescriptor,
): void {
  const { temperature, thinkingEnabled } = config;
  if (temperature !== null && !model.supportsTemperature) {
    throw fault('TEMPERATURE_NOT_SUPPORTED', `${model.name} does not support a temperature. Set temperature to null.`);
  }
  if (temperature !== null && (temperature < model.minTemperature || temperature > model.maxTemperature)) {
    throw fault(
      'TEMPERATURE_NOT_SUPPORTED',
      `${model.name} takes a temperature from ${model.minTemperature} to ${model.maxTemperature}.`,
    );
  }
  if (thinkingEnabled && !model.supportsThinking)
    throw fault('THINKING_NOT_SUPPORTED', `${model.name} does not support thinking.`);
}
