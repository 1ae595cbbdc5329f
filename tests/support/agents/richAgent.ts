import type { AgentSetup } from '../../http/messages/turns.ts';
import { draftAgent } from '../../http/messages/turns.ts';
import { shelfOf } from '../../runtime/knowledge/searchSetting.ts';
import { startTestApp, type TestApp } from '../http/app.ts';
import type { ModelAppWithTools } from '../http/modelApp.ts';
import { startMcpServer, type TestMcpServer, useCertificate } from '../servers/mcp.ts';
import { type ModelServer, startModelServer } from '../servers/modelServer.ts';
import { answering, makeTool, startToolServer, type ToolServer } from '../tools/httpTools.ts';
import { registerMcp } from '../tools/mcpApi.ts';
import { uploadSkill, zipOf } from '../tools/skills.ts';
import { connectBuiltin } from '../tools/toolkits.ts';
import { makeCommand } from './agentCommands.ts';
import { publish } from './agents.ts';
import { link } from './runtimeAgents.ts';

/** What a rich agent stands on; the same for several of them. */
export interface Shop {
  /** Tells where an order is; pays back, which a person approves. */
  track: string;
  refund: string;
  /** An external MCP server with the tool `echo`. */
  crm: string;
  calculator: string;
  skill: string;
  knowledge: string;
}

const INPUT = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] };

/** Makes it, once for an application: names are unique in a workspace. */
export async function makeShop(app: TestApp, tools: ToolServer, mcpUrl: string): Promise<Shop> {
  const tool = (name: string, description: string, requiresApproval: boolean) => {
    tools.on(`/${name}`, answering(`{"${name}":"done"}`));
    const configuration = {
      method: 'POST',
      url: `${tools.origin}/${name}`,
      body: { order: '{{input.order}}' },
      inputSchema: INPUT,
    };
    return makeTool(app, { name, description, requiresApproval, configuration });
  };
  const { body: skill } = await uploadSkill(
    app,
    await zipOf({
      'SKILL.md': '---\nname: complaints\ndescription: How complaints are settled.\n---\n\nSay sorry first.\n',
      'forms/letter.md': 'Dear customer,\n',
    }),
  ).expect(201);
  const knowledge = [
    { content: 'Orders can be sent back within 30 days.', heading: 'Returns', page: 2 },
    { content: 'Orders over 50 € are sent for free.' },
  ];
  return {
    track: (await tool('track_order', 'Tells where an order is.', false)).publicId,
    refund: (await tool('refund_order', 'Pays an order back.', true)).publicId,
    crm: (await registerMcp(app, { url: mcpUrl, name: 'CRM' })).publicId,
    calculator: await connectBuiltin(app.workspace, 'calculator', 'Calculator'),
    skill: skill.publicId,
    knowledge: await shelfOf(app.workspace).add(knowledge, { name: 'Handbook & FAQ' }),
  };
}

/** A published agent with each kind of link, variables, memory, a command and every feature of its replies but speech. */
export async function makeRichAgent(app: TestApp, shop: Shop, name: string, setup: AgentSetup): Promise<string> {
  const expert = await draftAgent(app, {
    name: `${name} expert`,
    systemPrompt: 'You know all of tea. The customer is {{customer}}.',
    dynamicPromptEnabled: true,
    messageSplittingEnabled: true,
    genuiEnabled: true,
    ...setup,
    variables: [{ name: 'customer', label: 'Customer', type: 'text_short', defaultValue: 'somebody' }],
  });
  await publish(app, expert);
  const agentId = await draftAgent(app, {
    name,
    systemPrompt: 'You sell tea to {{customer}}.\n\nBe {{tone}}.',
    dynamicPromptEnabled: true,
    longTermMemoryEnabled: true,
    memoryCustomInstructions: 'Which tea they like.',
    messageSplittingEnabled: true,
    genuiEnabled: true,
    sandboxEnabled: true,
    webSearchEnabled: true,
    ...setup,
    variables: [
      { name: 'customer', label: 'Customer', type: 'text_short', required: true },
      { name: 'tone', label: 'Tone', type: 'text_short', defaultValue: 'kind' },
    ],
  });
  await link(app, agentId, 'http_tool', shop.track);
  await link(app, agentId, 'http_tool', shop.refund);
  await link(app, agentId, 'external_mcp', shop.crm);
  await link(app, agentId, 'native_mcp', shop.calculator);
  await link(app, agentId, 'skill', shop.skill);
  await link(app, agentId, 'knowledge_source', shop.knowledge);
  await link(app, agentId, 'sub_agent', expert, { description: 'Ask it about kinds of tea.' });
  await makeCommand(app, agentId, { name: 'Track', command: 'track', prompt: 'Tell where this order is:' });
  await publish(app, agentId);
  return agentId;
}

/** What `useShop` started. Read it in hooks and tests: before them nothing is there yet. */
export interface ShopApp extends ModelAppWithTools {
  readonly shop: Shop;
}

/** Gives a test file a service with a shop, and the servers that both need, for as long as its tests run. */
export function useShop(): ShopApp {
  const certificate = useCertificate();
  let server: ModelServer;
  let tools: ToolServer;
  let mcp: TestMcpServer;
  let app: TestApp;
  let shop: Shop;

  beforeAll(async () => {
    server = await startModelServer();
    tools = await startToolServer();
    mcp = await startMcpServer(certificate);
    const webSearch = { tavily: { apiKey: 'k', baseUrl: 'http://127.0.0.1:9' } };
    app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true, webSearch });
    shop = await makeShop(app, tools, mcp.url);
  });
  beforeEach(() => {
    server.reset();
    tools.received.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await mcp.close();
    await tools.close();
    await server.close();
  });

  return {
    get app() {
      return app;
    },
    get server() {
      return server;
    },
    get tools() {
      return tools;
    },
    get shop() {
      return shop;
    },
  };
}
