import type { Selectable } from 'kysely';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import type { Agents } from '../../../generated/db.ts';

/** The editable fields of an agent that a version freezes, and where each is stored. */
export const CONFIG_COLUMNS = {
  systemPrompt: 'system_prompt',
  aiModelPublicId: 'ai_model_id',
  temperature: 'temperature',
  thinkingEnabled: 'thinking_enabled',
  thinkingEffort: 'thinking_effort',
  webSearchEnabled: 'web_search_enabled',
  sandboxEnabled: 'sandbox_enabled',
  genuiEnabled: 'genui_enabled',
  dynamicPromptEnabled: 'dynamic_prompt_enabled',
  audioListeningEnabled: 'audio_listening_enabled',
  audioResponseEnabled: 'audio_response_enabled',
  ttsVoice: 'tts_voice',
  longTermMemoryEnabled: 'long_term_memory_enabled',
  memoryCustomInstructions: 'memory_custom_instructions',
  messageDelayEnabled: 'message_delay_enabled',
  messageDelayType: 'message_delay_type',
  messageSplittingEnabled: 'message_splitting_enabled',
  followUpEnabled: 'follow_up_enabled',
  followUpAfterHours: 'follow_up_after_hours',
  followUpInactivityMinutes: 'follow_up_inactivity_minutes',
  followUpIntervalMinutes: 'follow_up_interval_minutes',
  followUpMaxAttempts: 'follow_up_max_attempts',
  followUpBusinessHoursStart: 'follow_up_business_hours_start',
  followUpBusinessHoursEnd: 'follow_up_business_hours_end',
  followUpPrompt: 'follow_up_prompt',
} as const satisfies Record<keyof AgentConfig, keyof Agents>;

/** A field of the editable state. */
export type ConfigField = keyof AgentConfig;

/** The fields of the editable state. */
export const CONFIG_FIELDS = Object.keys(CONFIG_COLUMNS) as ConfigField[];

/** The editable state of a stored agent. Written out: every read of an agent comes through here, and a loop costs five times as much. */
export function configOf(row: Selectable<Agents>): AgentConfig {
  return {
    systemPrompt: row.system_prompt,
    aiModelPublicId: row.ai_model_id,
    temperature: row.temperature,
    thinkingEnabled: row.thinking_enabled,
    thinkingEffort: row.thinking_effort,
    webSearchEnabled: row.web_search_enabled,
    sandboxEnabled: row.sandbox_enabled,
    genuiEnabled: row.genui_enabled,
    dynamicPromptEnabled: row.dynamic_prompt_enabled,
    audioListeningEnabled: row.audio_listening_enabled,
    audioResponseEnabled: row.audio_response_enabled,
    ttsVoice: row.tts_voice,
    longTermMemoryEnabled: row.long_term_memory_enabled,
    memoryCustomInstructions: row.memory_custom_instructions,
    messageDelayEnabled: row.message_delay_enabled,
    messageDelayType: row.message_delay_type,
    messageSplittingEnabled: row.message_splitting_enabled,
    followUpEnabled: row.follow_up_enabled,
    followUpAfterHours: row.follow_up_after_hours,
    followUpInactivityMinutes: row.follow_up_inactivity_minutes,
    followUpIntervalMinutes: row.follow_up_interval_minutes,
    followUpMaxAttempts: row.follow_up_max_attempts,
    followUpBusinessHoursStart: row.follow_up_business_hours_start,
    followUpBusinessHoursEnd: row.follow_up_business_hours_end,
    followUpPrompt: row.follow_up_prompt,
  };
}

/** Whether the editable state differs from the published version; true while nothing is published. */
export function hasUnpublishedChanges(row: Selectable<Agents>): boolean {
  return row.published_version_number === null || row.draft_digest !== row.published_digest;
}
