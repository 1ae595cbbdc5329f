import type { LinkedRow } from '../../../db/queries/agents/agentLinks.ts';
import type { VariableRow } from '../../../db/queries/agents/agentVariables.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import { digestOf } from '../../../domain/agents/draft/digest.ts';
import { loopTurns } from '../../support/loopTurns.ts';

const id = (number: number) => `01970000-0000-7000-8000-${String(number).padStart(12, '0')}`;

const config: AgentConfig = {
  systemPrompt: 'You sell tea to {{customer}}.',
  aiModelPublicId: id(1),
  temperature: 0.4,
  thinkingEnabled: true,
  thinkingEffort: 'medium',
  webSearchEnabled: false,
  sandboxEnabled: true,
  genuiEnabled: false,
  dynamicPromptEnabled: true,
  audioListeningEnabled: false,
  audioResponseEnabled: false,
  ttsVoice: null,
  longTermMemoryEnabled: true,
  memoryCustomInstructions: 'Which tea they like.',
  messageDelayEnabled: true,
  messageDelayType: 'LOW',
  messageSplittingEnabled: false,
  followUpEnabled: false,
  followUpAfterHours: null,
  followUpInactivityMinutes: 30,
  followUpIntervalMinutes: null,
  followUpMaxAttempts: null,
  followUpBusinessHoursStart: '09:00:00',
  followUpBusinessHoursEnd: '18:00:00',
  followUpPrompt: null,
};

const variable: VariableRow = {
  workspace_id: id(90),
  agent_id: id(91),
  id: id(2),
  name: 'customer',
  label: 'Customer',
  description: null,
  type: 'single_choice',
  required: true,
  default_value: 'Gold',
  options: [{ publicId: id(3), label: 'Gold', injectedText: 'a good customer', sortOrder: 0 }],
  multi_choice_separator: null,
  boolean_text_when_true: null,
  boolean_text_when_false: null,
  sort_order: 1,
  created_at: new Date('2026-01-02T03:04:05.678Z'),
  updated_at: new Date('2026-01-02T03:04:05.678Z'),
};

const link = (kind: LinkedRow['kind'], target: number, settings: Partial<LinkedRow> = {}): LinkedRow => ({
  workspace_id: id(90),
  agent_id: id(91),
  kind,
  target_id: id(target),
  target_name: `Target ${target}`,
  active: true,
  requires_approval: false,
  instance_mode: 'STATIC',
  description: null,
  ai_model_id: null,
  sort_order: 0,
  seq: target,
  created_at: new Date(0),
  tool_type: null,
  server_url: null,
  custom_model_name: null,
  ...settings,
});

const links: LinkedRow[] = [
  link('skill', 10),
  link('skill', 11, { active: false }),
  link('knowledge_source', 12),
  link('http_tool', 13, { tool_type: 'HTTP_REQUEST', requires_approval: true }),
  link('http_tool', 14, { tool_type: 'DATABASE_QUERY' }),
  link('external_mcp', 15, { instance_mode: 'DYNAMIC', server_url: 'https://mcp.example.com' }),
  link('native_mcp', 16),
  link('sub_agent', 17, { sort_order: 2, description: 'Knows tea.', ai_model_id: id(1) }),
  link('sub_agent', 18, { sort_order: 1, ai_model_id: id(4), custom_model_name: 'Ours' }),
];

test('the digest of a state is the one that earlier releases stored for it', async () => {
  // Made by the release before snapshots had a format number. Another value would show every published agent as changed.
  expect(await digestOf(config, { variables: [variable], links })).toBe('0SL8uYt72hvCDbQ54BUJiVJaQDHxWnziIvvSYuUyVMQ');
});

test('equal states have equal digests, whatever the names and times of what they refer to', async () => {
  const digest = await digestOf(config, { variables: [variable], links });
  const renamed = links.map((row) => ({ ...row, target_name: 'Renamed', custom_model_name: 'Other' }));
  const touched = { ...variable, updated_at: new Date() };
  expect(await digestOf({ ...config }, { variables: [touched], links: renamed })).toBe(digest);
});

test('a link that is removed and made again leaves the digest as it was', async () => {
  const [first, ...others] = links as [LinkedRow, ...LinkedRow[]];
  const digest = await digestOf(config, { variables: [variable], links });
  expect(await digestOf(config, { variables: [variable], links: [...others, first] })).toBe(digest);
});

test.each<[string, () => Promise<string>]>([
  ['a field', () => digestOf({ ...config, temperature: 0.5 }, { variables: [variable], links })],
  ['a variable', () => digestOf(config, { variables: [{ ...variable, required: false }], links })],
  ['a link less', () => digestOf(config, { variables: [variable], links: links.slice(1) })],
  [
    'a setting of a link',
    () => digestOf(config, { variables: [variable], links: links.map((row) => ({ ...row, active: !row.active })) }),
  ],
])('%s changes the digest', async (_what, changed) => {
  expect(await changed()).not.toBe(await digestOf(config, { variables: [variable], links }));
});

test('others have their turns while 10,000 links are hashed', async () => {
  const many = Array.from({ length: 10_000 }, (_, place) => link('http_tool', place + 100));
  expect(await loopTurns(() => digestOf(config, { variables: [variable], links: many }))).toBeGreaterThan(20);
});
