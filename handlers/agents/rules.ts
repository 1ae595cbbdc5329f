import { fault } from '../../core/errors.ts';
import type { ModelDescriptor } from '../../runtime/models/catalogue.ts';
import type { AgentConfig } from './agentBody.ts';

/** Throws FEATURE_VALIDATION_ERROR when the feature settings of an agent contradict each other. */
export function checkFeatures(config: AgentConfig): void {
  const refuse = (message: string) => fault('FEATURE_VALIDATION_ERROR', message);
  if (config.followUpEnabled && (config.followUpMaxAttempts === null || config.followUpIntervalMinutes === null)) {
    throw refuse('Follow-ups need followUpMaxAttempts and followUpIntervalMinutes.');
  }
  const { followUpBusinessHoursStart: start, followUpBusinessHoursEnd: end } = config;
  if ((start === null) !== (end === null)) throw refuse('Business hours come as a pair: give both, or neither.');
  if (start !== null && end !== null && start >= end) throw refuse('Business hours must start before they end.');
  if (config.audioResponseEnabled && !config.ttsVoice?.trim()) throw refuse('Audio responses need a ttsVoice.');
}

/** Throws TEMPERATURE_NOT_SUPPORTED or THINKING_NOT_SUPPORTED when the model cannot do what the agent asks of it. */
export function checkModelSettings(
  config: Pick<AgentConfig, 'temperature' | 'thinkingEnabled'>,
  model: ModelDescriptor,
): void {
  const { temperature, thinkingEnabled } = config;
  if (temperature !== null && !model.supportsTemperature) {
    throw fault('TEMPERATURE_NOT_SUPPORTED', `${model.name} does not take a temperature. Set temperature to null.`);
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
