import { messageSplittingCapability } from '../../../runtime/capabilities/messageSplitting.ts';
import { speechCapability } from '../../../runtime/capabilities/speech.ts';
import { CAPABILITIES, capabilitySections, capabilityTools } from '../../../runtime/capabilities/table.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { newScope } from '../../support/turns/agentScope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    models: { retries: 0, openai: { apiKey: 'k' } },
    webSearch: { tavily: { apiKey: 'k', baseUrl: 'http://127.0.0.1:9' } },
  });
});
afterAll(() => app.close());

const FEATURES = {
  messageSplittingEnabled: true,
  audioResponseEnabled: true,
  webSearchEnabled: true,
  sandboxEnabled: true,
  genuiEnabled: true,
  longTermMemoryEnabled: true,
};
/** Everything that an agent can have, without a row behind the links. */
const LINKED = {
  knowledgeSourceIds: ['source'],
  skills: [{ id: 'skill', name: 'Forms', description: '' }],
  subAgents: [{ id: 'other', name: 'Other', description: '', publishedVersionNumber: 1, aiModelPublicId: null }],
};
const noSubAgent = () => Promise.reject(new Error('Nobody delegates here.'));
const fullScope = (path?: string[]) => newScope(app, { snapshot: FEATURES, resources: LINKED, ...(path && { path }) });
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

test('every capability has a name of its own, and gives an agent a tool or a section', () => {
  const names = namesOf(CAPABILITIES);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((_, at) => !CAPABILITIES[at]?.tools && !CAPABILITIES[at]?.section)).toEqual([]);
});

test('tools and sections come in their order, each of a capability that is active', async () => {
  const scope = await fullScope();
  expect(namesOf(await capabilityTools(scope, noSubAgent))).toEqual([
    'search_knowledge',
    'read_skill',
    'remember',
    'recall',
    'forget',
    'web_search',
    'run_javascript',
    'show_ui',
    'delegate_to_Other',
  ]);
  expect(capabilitySections(scope).map((text) => text.split('\n')[0])).toEqual([
    '# Messages',
    '# Voice',
    '# Web search',
    '# Sandbox',
    '# Generative UI',
    '# Knowledge',
    '# Memory',
    '# Skills',
  ]);
});

test('an agent that works for another one has nothing that shapes what people read', async () => {
  const scope = await fullScope(['above', 'itself']);
  expect(namesOf(await capabilityTools(scope, noSubAgent))).not.toContain('show_ui');
  const sections = capabilitySections(scope).join('\n');
  expect(sections).not.toMatch(/^# (Messages|Voice|Generative UI)/m);
  expect(sections).toMatch(/^# Web search/m);
});

test('an agent with nothing has no tool and no section', async () => {
  const scope = await newScope(app);
  expect(await capabilityTools(scope, noSubAgent)).toEqual([]);
  expect(capabilitySections(scope)).toEqual([]);
});

test('the prompt asks for chat messages when replies are split, and for spoken language when they are read aloud', () => {
  expect(messageSplittingCapability.section()).toMatch(/^# Messages\n\n[^#]*blank line/);
  expect(speechCapability.section()).toMatch(/^# Voice\n\nYour reply is also read aloud\. /);
});
