import type { AgentScope } from '../../runtime/agent/tool.ts';
import { CAPABILITIES } from '../../runtime/capabilities/table.ts';
import { RESOURCE_TOOLS } from '../../runtime/mcp/resources.ts';
import { countTokens } from '../../runtime/models/tokens.ts';
import type { Figure } from './report.ts';

/** An agent with every feature, and with one of each thing that the run-time's own tools are made for. It reaches no database. */
const SCOPE = {
  runtime: {
    webSearch: { tavily: { apiKey: 'k', baseUrl: 'https://search.example' } },
    models: { retries: 0, openai: { apiKey: 'k' } },
    mcp: { lists: undefined },
  },
  snapshot: {
    messageSplittingEnabled: true,
    audioResponseEnabled: true,
    webSearchEnabled: true,
    sandboxEnabled: true,
    genuiEnabled: true,
    longTermMemoryEnabled: true,
    memoryCustomInstructions: null,
  },
  resources: {
    httpTools: [],
    externalMcps: [{ row: serverWithResources(), instanceMode: 'DYNAMIC', requiresApproval: false }],
    // A connection whose tools are found and called by two of the run-time's own.
    nativeMcps: [{ row: { id: 'n', name: 'mail', toolkit_slug: 'gmail' }, instanceMode: 'DYNAMIC' }],
    skills: [{ id: 's', name: 'returns', description: 'How goods are sent back.' }],
    knowledgeSourceIds: ['k'],
    subAgents: [{ id: 'b', name: 'desk', description: 'Knows the weather.' }],
    hasChannel: true,
    model: undefined,
  },
  path: ['a'],
  channel: 'api',
} as unknown as AgentScope;

/** A server with no tools but the two that a discovery adds, for its resources. */
function serverWithResources() {
  return {
    id: 'm',
    name: 'files',
    tools: RESOURCE_TOOLS.map(({ name, description, resources }) => ({
      id: name,
      name,
      description,
      resources,
      enabled: true,
    })),
    input_schemas: Object.fromEntries(RESOURCE_TOOLS.map(({ name, inputSchema }) => [name, inputSchema])),
  };
}

/** Tokens (o200k) that the texts of a capability take in every request: its section of the system prompt, and its tools as JSON. */
export interface CapabilityTokens {
  name: string;
  section: number;
  tools: number;
}

/** What each capability takes that brings texts of its own. The others only pass on what is linked. */
export async function capabilityTokens(): Promise<CapabilityTokens[]> {
  const count = (text: string) => countTokens(text, Number.POSITIVE_INFINITY);
  const noSubAgent = () => Promise.reject(new Error('No sub-agent runs here.'));
  const all = await Promise.all(
    CAPABILITIES.filter(({ isActive }) => isActive(SCOPE)).map(async ({ name, section, tools }) => {
      const described = (await tools?.(SCOPE, noSubAgent))?.map((tool) => ({
        name: tool.name,
        description: tool.description,
        parameters: tool.inputSchema,
      }));
      return {
        name,
        section: section ? await count(section(SCOPE)) : 0,
        tools: described ? await count(JSON.stringify(described)) : 0,
      };
    }),
  );
  return all.filter(({ section, tools }) => section + tools > 0);
}

/** Most tokens that each may take: what they have, and a little room. tests/scripts/capabilityTokens.test.ts holds them to it. */
export const TOKEN_BUDGETS: Readonly<Record<string, number>> = {
  messageSplitting: 90,
  speech: 75,
  webSearch: 175,
  sandbox: 225,
  generativeUi: 440,
  handOver: 205,
  knowledge: 210,
  memory: 360,
  skills: 185,
  subAgents: 100,
  externalMcps: 155,
  nativeMcps: 160,
};

/** Measures what each capability adds to every request. */
export async function measureCapabilities(): Promise<Figure[]> {
  const found = await capabilityTokens();
  return found.map(({ name, section, tools }) => ({
    measure: 'capabilities',
    name: `tokens of ${name} in every request`,
    value: section + tools,
    unit: 'tokens',
    target: { limit: TOKEN_BUDGETS[name] ?? 0, is: 'at most' },
    note: `section ${section}, tools ${tools} (o200k)`,
  }));
}
