import type { AgentScope } from '../../../runtime/agent/tool.ts';
import { speechCapability } from '../../../runtime/capabilities/speech.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';

const holds = (audioResponseEnabled: boolean, models: Partial<ModelSettings>) =>
  speechCapability.isActive({
    snapshot: { audioResponseEnabled },
    runtime: { models: { retries: 0, ...models } },
    resources: { model: undefined },
  } as unknown as AgentScope);

test('an agent is told to write for the ear only where a model that speaks is configured', () => {
  expect(holds(true, { openai: { apiKey: 'k' } })).toBe(true);
  expect(holds(true, {})).toBe(false);
  expect(holds(true, { anthropic: { apiKey: 'k' } })).toBe(false);
  expect(holds(false, { openai: { apiKey: 'k' } })).toBe(false);
});
