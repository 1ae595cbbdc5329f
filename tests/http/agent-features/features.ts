import type { components } from '../../../generated/api.ts';

/** Every setting: its feature, its name, the agent's field that it shows, valid values and invalid ones. */
export const SETTINGS: [
  key: string,
  setting: string,
  field: keyof components['schemas']['AgentUpdate'],
  taken: unknown[],
  refused: unknown[],
][] = [
  ['follow-up', 'afterHours', 'followUpAfterHours', [0, 720], [-1, 721, 1.5, '1', true]],
  ['follow-up', 'inactivityMinutes', 'followUpInactivityMinutes', [1, 1440], [0, 1441, 1.5, '1']],
  ['follow-up', 'intervalMinutes', 'followUpIntervalMinutes', [1, 10_080], [0, 10_081, 1.5, [1]]],
  ['follow-up', 'maxAttempts', 'followUpMaxAttempts', [1, 10], [0, 11, 1.5, {}]],
  ['follow-up', 'prompt', 'followUpPrompt', ['', 'é'.repeat(10_000)], ['a'.repeat(10_001), 1]],
  ['message-delay', 'type', 'messageDelayType', ['LOW', 'MEDIUM', 'HIGH', 'RANDOM'], ['low', '', 0, 'NONE']],
  [
    'long-term-memory',
    'customInstructions',
    'memoryCustomInstructions',
    ['', '🦊'.repeat(10_000)],
    ['a'.repeat(10_001), 1],
  ],
  ['audio', 'listeningEnabled', 'audioListeningEnabled', [true, false], ['true', 1]],
  ['audio', 'responseEnabled', 'audioResponseEnabled', [false], ['true', 1]],
  ['audio', 'voice', 'ttsVoice', ['alloy', 'a'.repeat(100)], ['a'.repeat(101), 7]],
];

/** Times of day for business hours, which are set as a pair. */
export const TIMES = { taken: ['00:00:00', '23:59:58'], refused: ['24:00:00', '9:00:00', '09:0', '09:60', '', 9] };

/** Every feature with its label and the agent's field that switches it on. */
export const KEYS: [key: string, label: string, toggle: keyof components['schemas']['AgentUpdate']][] = [
  ['follow-up', 'Follow-up', 'followUpEnabled'],
  ['message-splitting', 'Message splitting', 'messageSplittingEnabled'],
  ['message-delay', 'Message delay', 'messageDelayEnabled'],
  ['long-term-memory', 'Long-term memory', 'longTermMemoryEnabled'],
  ['sandbox', 'Sandbox', 'sandboxEnabled'],
  ['genui', 'Generative UI', 'genuiEnabled'],
  ['audio', 'Audio', 'audioListeningEnabled'],
  ['web-search', 'Web search (not configured on this server)', 'webSearchEnabled'],
];

/** The fields without which follow-ups cannot be switched on. */
export const FOLLOW_UP_NEEDS = { followUpMaxAttempts: 3, followUpIntervalMinutes: 60 };
