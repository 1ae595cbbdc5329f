import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../core/ids.ts';
import { API_PREFIX } from '../../generated/operations.ts';
import type { World } from './world.ts';

/** The tool that the model server calls when the message asks for it. */
export const TOOL_NAME = 'order_status';
/** The end user whose memories are stored. */
export const USER = 'customer-1';

const FACTS = 12;
const MCP_TOOLS = 20;
const KNOWLEDGE = `Opening hours. The shop is open from nine to six on weekdays and from ten to two on Saturdays.

Returns. Goods can be returned within thirty days when they are unused and the receipt is shown.

Delivery. Orders leave the warehouse within a day. Order numbers have four digits; parcels are followed on the tracking page.

Warranty. Devices have a warranty of two years. Batteries have one of six months.`;

/** An agent that uses every kind of link, variables and memory. */
export interface RichAgent {
  agentId: string;
  /** The address that its HTTP tool calls. The benchmark also calls it directly. */
  toolUrl: string;
  close(): Promise<void>;
}

function startToolServer(): Promise<Server> {
  const answer = JSON.stringify({ order: '4711', status: 'sent', parcels: 1 });
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Makes it through the API of a running service. Rows that the API makes only with an external server are inserted directly. */
export async function makeRichAgent(world: World, serviceUrl: string, modelId: string): Promise<RichAgent> {
  const { workspaceId } = world;
  const headers = { ...world.headers, 'content-type': 'application/json' };
  const api = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(serviceUrl + API_PREFIX + path, {
      method,
      headers,
      body: body ? JSON.stringify(body) : null,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const tools = await startToolServer();
  const toolUrl = `http://127.0.0.1:${(tools.address() as AddressInfo).port}/orders`;
  const settings = { aiModelPublicId: modelId, systemPrompt: 'You help {{customer}} of a small shop. '.repeat(10) };

  const helper = await api('POST', '/agents', { name: 'Bench helper' });
  await api('PATCH', `/agents/${helper.publicId}`, { ...settings, systemPrompt: 'You look up prices.' });
  await api('POST', `/agents/${helper.publicId}/publish`);

  const agent = await api('POST', '/agents', { name: 'Bench, with everything' });
  const path = `/agents/${agent.publicId}`;
  await api('PATCH', path, {
    ...settings,
    dynamicPromptEnabled: true,
    longTermMemoryEnabled: true,
    messageSplittingEnabled: true,
  });
  await api('POST', `${path}/prompt/variables`, {
    name: 'customer',
    label: 'Customer',
    type: 'text_short',
    defaultValue: 'somebody',
  });

  const tool = await api('POST', '/http-tools', {
    name: TOOL_NAME,
    description: 'Tells where an order is.',
    toolType: 'HTTP_REQUEST',
    configuration: {
      method: 'POST',
      url: toolUrl,
      body: { order: '{{input.order}}' },
      inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    },
  });
  await api('POST', `${path}/http-tools`, { httpToolPublicId: tool.publicId });
  const source = await api('POST', '/knowledge-sources', { name: 'Handbook', textContent: KNOWLEDGE });
  for (let status = ''; status !== 'COMPLETED'; await sleep(20)) {
    status = String((await api('GET', `/knowledge-sources/${source.publicId}`)).processingStatus);
    if (status === 'FAILED') throw new Error('The knowledge source was not processed.');
  }
  await api('POST', `${path}/knowledge-sources`, { knowledgeSourcePublicId: source.publicId });
  await api('POST', `${path}/sub-agents`, { subAgentPublicId: helper.publicId, description: 'Knows prices.' });

  const [mcpId, connectionId, skillId] = [newId(), newId(), newId()];
  const found = Array.from({ length: MCP_TOOLS }, (_, i) => ({
    id: `tool_${i}`,
    name: `crm_tool_${i}`,
    description: 'Reads the CRM.',
    enabled: true,
  }));
  const schemas = Object.fromEntries(
    found.map(({ id }) => [
      id,
      { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } } },
    ]),
  );
  await world.query(`insert into external_mcps (workspace_id, id, name, url, auth_type, status, tools, input_schemas)
    values ('${workspaceId}', '${mcpId}', 'CRM', 'https://crm.example.com/mcp', 'NONE', 'CONNECTED',
      '${JSON.stringify(found)}', '${JSON.stringify(schemas)}')`);
  await world.query(`insert into native_connections (workspace_id, id, provider, toolkit_slug, name)
    values ('${workspaceId}', '${connectionId}', 'builtin', 'calculator', 'Calculator')`);
  await world.query(`insert into skills (workspace_id, id, name, description)
    values ('${workspaceId}', '${skillId}', 'refunds', 'How refunds are made, step by step.')`);
  await api('POST', `${path}/external-mcps`, { externalMcpPublicId: mcpId });
  await api('POST', `${path}/native-mcps`, { connectionPublicIds: [connectionId] });
  await api('POST', `${path}/skills`, { skillPublicId: skillId });
  await api('POST', `${path}/publish`);
  for (let i = 0; i < FACTS; i += 1) {
    await world.query(`insert into memories (workspace_id, id, agent_id, external_user_id, fact)
      values ('${workspaceId}', '${newId()}', '${agent.publicId}', '${USER}', 'Fact ${i}: likes colour number ${i}.')`);
  }
  return {
    agentId: String(agent.publicId),
    toolUrl,
    close: () =>
      new Promise((resolve) => {
        tools.close(() => resolve());
        tools.closeAllConnections();
      }),
  };
}
