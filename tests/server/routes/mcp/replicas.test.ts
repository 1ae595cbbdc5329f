import { cleanUp, freshFolder, type ServiceProcess, startService } from '../../../faults/service.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/db/database.ts';

let database: TestDatabase;
let replicas: ServiceProcess[];
let apiKey: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ apiKey } = await database.seedWorkspace());
  const env = async () => ({
    DATABASE_URL: database.url,
    GUILDHALL_DATA_DIR: await freshFolder(),
    GUILDHALL_ROLE: 'api',
    GUILDHALL_SECRETS_KEY: '0'.repeat(64),
    GUILDHALL_LOG_LEVEL: 'error',
  });
  replicas = await Promise.all([startService(await env()), startService(await env())]);
});
afterAll(async () => {
  await cleanUp();
  await database.drop();
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Sends each message to the next process and returns the results. */
async function alternate(
  messages: { method: string; params?: object }[],
  headers: (method: string) => Record<string, string>,
) {
  const results: { result?: Record<string, unknown>; error?: unknown }[] = [];
  for (const [at, message] of messages.entries()) {
    const { origin } = replicas[at % 2] as ServiceProcess;
    const isNote = message.method.startsWith('notifications/');
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${apiKey}`,
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        ...headers(message.method),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...(isNote ? {} : { id: at }), ...message }),
    });
    const text = await response.text();
    expect([message.method, response.status]).toEqual([message.method, isNote ? 202 : 200]);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    if (!isNote) results.push(JSON.parse(text.replace(/^event: message\ndata: /, '')));
  }
  return results;
}

const listAgents = { name: 'agents__list_agents', arguments: {} };

test('requests of one client of 2025 are answered by two processes in turn', async () => {
  const results = await alternate(
    [
      {
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { method: 'tools/list' },
      { method: 'tools/call', params: listAgents },
      { method: 'ping' },
      { method: 'tools/call', params: listAgents },
    ],
    (method): Record<string, string> => (method === 'initialize' ? {} : { 'MCP-Protocol-Version': '2025-11-25' }),
  );
  expect(results.map(({ error }) => error)).toEqual(results.map(() => undefined));
  expect(results[0]?.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'guildhall' } });
  expect(results[1]?.result?.tools).toHaveLength(135);
  expect(results[4]?.result?.structuredContent).toMatchObject({ items: [] });
});

test('requests of one client of 2026 are answered by two processes in turn', async () => {
  const results = await alternate(
    [
      { method: 'server/discover', params: { _meta: META } },
      { method: 'tools/call', params: { ...listAgents, _meta: META } },
      { method: 'tools/call', params: { ...listAgents, _meta: META } },
      { method: 'resources/read', params: { uri: 'guildhall://guide', _meta: META } },
    ],
    (method): Record<string, string> => ({
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(method === 'tools/call' ? { 'Mcp-Name': listAgents.name } : {}),
      ...(method === 'resources/read' ? { 'Mcp-Name': 'guildhall://guide' } : {}),
    }),
  );
  expect(results.map(({ error }) => error)).toEqual(results.map(() => undefined));
  expect(results[0]?.result?.supportedVersions).toEqual(['2026-07-28']);
  for (const { result } of results.slice(1, 3)) expect(result?.structuredContent).toMatchObject({ items: [] });
});
