import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const info = { name: 'a-test', version: '1' };
const requestInit = () => ({ headers: { Authorization: `Bearer ${app.workspace.apiKey}` } });

/** Every client that people have, in both eras of the protocol. */
const clients: [string, () => Promise<Client | OldClient>][] = [
  ['2.4 in the era of 2026', () => connected({ mode: { pin: '2026-07-28' } })],
  ['2.4 that finds out', () => connected({ mode: 'auto' })],
  ['2.4 in the era of 2025', () => connected({ mode: 'legacy' })],
  [
    '1.32',
    async () => {
      const client = new OldClient(info);
      await client.connect(new OldTransport(new URL(`${app.origin}/mcp`), { requestInit: requestInit() }));
      return client;
    },
  ],
];

async function connected(versionNegotiation: { mode: 'auto' | 'legacy' | { pin: string } }): Promise<Client> {
  const client = new Client(info, { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app.origin}/mcp`), { requestInit: requestInit() }));
  return client;
}

describe.each(clients)('the client %s', (_name, connect) => {
  let client: Client | OldClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  test('is told who the server is and how it is used', () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'guildhall', title: 'Guildhall' });
    expect(client.getInstructions()).toContain('agents__publish_agent');
  });

  test('lists the tools and calls one', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('agents__list_agents');
    const result = await client.callTool({ name: 'agents__list_agents', arguments: {} });
    expect(result).toMatchObject({ structuredContent: { items: [], total: 0 } });
    expect(result.isError ?? false).toBe(false);
  });

  test('reads resources, prompts and completions', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['guildhall://guide', 'guildhall://openapi']);
    const { contents } = await client.readResource({ uri: 'guildhall://openapi/agents' });
    const text = contents[0] && 'text' in contents[0] ? contents[0].text : '';
    expect(Object.keys(JSON.parse(String(text)).paths)).toContain('/agents/{agentPublicId}/publish');
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['build_agent', 'debug_conversation']);
    const prompt = await client.getPrompt({ name: 'build_agent', arguments: { purpose: 'answer mails' } });
    expect(JSON.stringify(prompt.messages)).toContain('answer mails');
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'guildhall://openapi/{tag}' },
      argument: { name: 'tag', value: 'agent-m' },
    });
    expect(completion.values).toEqual(['agent-model']);
  });

  test('gets the protocol’s errors for what is not there', async () => {
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow('There is no tool nothing.');
    await expect(client.readResource({ uri: 'guildhall://nothing' })).rejects.toThrow();
    await expect(client.getPrompt({ name: 'build_agent', arguments: {} })).rejects.toThrow(
      'build_agent needs purpose.',
    );
  });
});
