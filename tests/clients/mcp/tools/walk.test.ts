// Longer than most: one walk through all 135 operations, each with what the ones before it made.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ToolSet, toolSet } from '../../../../clients/mcp/tools/index.ts';
import { guildhall } from '../../../../clients/sdk/index.ts';
import { type OperationId, operations } from '../../../../generated/operations.ts';
import { BUILTIN_MODEL } from '../../../../runtime/models/catalogue.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { pngOf } from '../../../support/hub/pictures.ts';
import { startMcpServer, type TestMcpServer, useCertificate } from '../../../support/servers/mcp.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../../support/servers/toolkitRegistry.ts';
import { skillMd } from '../../../support/tools/skills.ts';
import { connectBuiltin } from '../../../support/tools/toolkits.ts';
import { exampleBody, expectFits } from './documented.ts';

type Json = Record<string, unknown>;
type Made = Json & { publicId: string };

const certificate = useCertificate();
let app: TestApp;
let server: TestMcpServer;
let registry: ToolkitRegistry;
let folder: string;
let tools: ToolSet;
/** What became of each tool: `success`, or the code of the error that was expected. */
const outcomes = new Map<string, string[]>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-walk-'));
  registry = await startToolkitRegistry();
  app = await startTestApp({ allowPrivateNetwork: true, toolkits: { composio: registry.access } });
  server = await startMcpServer(certificate, { tools: { echo: 'Says it again' } });
  tools = toolSet();
});

afterAll(async () => {
  await server?.close();
  await app?.close();
  await registry?.close();
  await rm(folder, { recursive: true });
});

function call(tool: string, args: Json): Promise<CallToolResult> {
  return tools.call(tool, args, {
    api: guildhall({ apiKey: app.workspace.apiKey, baseUrl: app.origin, retries: 0 }),
    signal: new AbortController().signal,
    files: { folders: [folder] },
  });
}

function note(tool: string, outcome: string): void {
  outcomes.set(tool, [...(outcomes.get(tool) ?? []), outcome]);
}

/** Calls a tool that must succeed, with an answer that fits its output schema. */
async function does(tool: string, args: Json = {}): Promise<Made> {
  const { isError, content, structuredContent } = await call(tool, args);
  if (isError) throw new Error(`${tool}: ${JSON.stringify(content)}`);
  note(tool, 'success');
  expectFits(
    tools.list().find(({ name }) => name === tool),
    structuredContent,
  );
  return structuredContent as Made;
}

/** Calls a tool that must be refused with this code, which the document has for the operation. */
async function refuses(tool: string, args: Json, code: string): Promise<void> {
  const { isError, content } = await call(tool, args);
  const { error } = JSON.parse((content[0] as { text: string }).text);
  expect({ tool, isError, code: error?.code }).toEqual({ tool, isError: true, code });
  expect(error.next).toMatch(/\S\.$/);
  note(tool, code);
}

test('an agent, its prompt, variables, model, features and commands', async () => {
  await does('public_api__get_health');
  const { publicId: agentPublicId } = await does('agents__create_agent', { body: exampleBody('createAgent') });
  const agent = { agentPublicId };
  await refuses('agents__publish_agent', agent, 'AI_MODEL_REQUIRED');
  await refuses('agent_versions__get_published_version', agent, 'VERSION_NOT_FOUND');
  await does('ai_models__list_ai_models');
  const { temperature: _, ...model } = exampleBody('updateAgentModel');
  const change = exampleBody('updateAgent');
  await does('agents__update_agent', {
    ...agent,
    body: { ...change, temperature: null, aiModelPublicId: BUILTIN_MODEL.publicId },
  });
  await does('agent_model__update_agent_model', {
    ...agent,
    body: { ...model, aiModelPublicId: BUILTIN_MODEL.publicId },
  });
  await does('agent_model__get_agent_model', agent);
  await does('agent_prompt__update_agent_prompt', { ...agent, body: exampleBody('updateAgentPrompt') });
  await does('agent_prompt__get_agent_prompt', agent);
  const variable = await does('agent_variables__create_variable', { ...agent, body: exampleBody('createVariable') });
  const ofVariable = { ...agent, variablePublicId: variable.publicId };
  await does('agent_variables__list_variables', { ...agent, includeOrphaned: true });
  await does('agent_variables__update_variable', { ...ofVariable, body: exampleBody('updateVariable') });
  await refuses('agent_variables__delete_variable', { ...ofVariable, mode: 'purge' }, 'CONFIRMATION_REQUIRED');
  await does('agent_variables__delete_variable', { ...ofVariable, mode: 'purge', body: exampleBody('deleteVariable') });
  await does('agent_features__list_features', agent);
  const feature = { ...agent, featureKey: 'follow-up' };
  await does('agent_features__update_feature', { ...feature, body: exampleBody('updateFeature') });
  await does('agent_features__get_feature', feature);
  const command = await does('agent_commands__create_command', { ...agent, body: exampleBody('createCommand') });
  const ofCommand = { ...agent, commandPublicId: command.publicId };
  await does('agent_commands__list_commands', agent);
  await does('agent_commands__get_command', ofCommand);
  await does('agent_commands__update_command', { ...ofCommand, body: exampleBody('updateCommand') });
  await does('agent_commands__delete_command', ofCommand);
  await does('agents__publish_agent', { ...agent, body: exampleBody('publishAgent') });
  await does('agent_versions__list_versions', agent);
  await does('agent_versions__get_published_version', agent);
  await does('agent_versions__get_version', { ...agent, versionNumber: 1 });
  await does('agent_versions__restore_version', { ...agent, versionNumber: 1 });
  await does('agents__get_agent', agent);
  await does('agents__list_agents', { status: ['active'], limit: 5 });
  await does('agents__delete_agent', agent);
});

test('skills and knowledge', async () => {
  const agent = { agentPublicId: (await does('agents__create_agent', { body: { name: 'Reader' } })).publicId };
  await writeFile(join(folder, 'SKILL.md'), skillMd());
  const skill = await does('skills__upload_skill', { file_path: 'SKILL.md' });
  const ofSkill = { skillPublicId: skill.publicId };
  await does('skills__list_skills');
  await does('skills__get_skill', ofSkill);
  await does('skills__update_skill', { ...ofSkill, body: exampleBody('updateSkill') });
  await does('agent_skills__list_available_skills', agent);
  await does('agent_skills__link_skill', { ...agent, body: ofSkill });
  await refuses('agent_skills__link_skill', { ...agent, body: ofSkill }, 'ALREADY_LINKED');
  await does('agent_skills__list_skill_links', agent);
  await does('agent_skills__unlink_skill', { ...agent, ...ofSkill });
  await does('skills__delete_skill', ofSkill);

  await does('knowledge_sources__create_knowledge_source', { body: exampleBody('createKnowledgeSource') });
  const file_base64 = Buffer.from('Refunds take 14 days.').toString('base64');
  const source = await does('knowledge_sources__create_knowledge_source', {
    file_base64,
    file_name: 'refunds.txt',
    body: { name: 'Refunds', description: 'How money comes back.' },
  });
  expect(source).toMatchObject({ name: 'Refunds', sourceType: 'FILE_UPLOAD' });
  const ofSource = { knowledgeSourcePublicId: source.publicId };
  await does('knowledge_sources__list_knowledge_sources', { search: 'refund' });
  await does('knowledge_sources__get_knowledge_source', ofSource);
  await does('knowledge_sources__update_knowledge_source', { ...ofSource, body: exampleBody('updateKnowledgeSource') });
  await does('agent_knowledge_sources__list_available_knowledge_sources', agent);
  await does('agent_knowledge_sources__link_knowledge_source', { ...agent, body: ofSource });
  await does('agent_knowledge_sources__list_knowledge_source_links', agent);
  await does('agent_knowledge_sources__unlink_knowledge_source', { ...agent, ...ofSource });
  await does('knowledge_sources__delete_knowledge_source', ofSource);
});

test('tools, MCP servers, toolkits and sub-agents', async () => {
  const agent = { agentPublicId: (await does('agents__create_agent', { body: { name: 'Worker' } })).publicId };
  await does('http_tools__create_tool', { body: exampleBody('createTool') });
  const tool = await does('http_tools__create_tool', { body: exampleBody('createTool', 'internalVariable') });
  const ofTool = { httpToolPublicId: tool.publicId };
  await does('http_tools__list_tools', { toolType: 'HTTP_REQUEST' });
  await does('http_tools__get_tool', ofTool);
  await does('http_tools__update_tool', { ...ofTool, body: exampleBody('updateTool') });
  await refuses('http_tools__update_tool', { ...ofTool, body: { toolType: 'HTTP_REQUEST' } }, 'IMMUTABLE_FIELD');
  await does('http_tools__test_tool', { ...ofTool, body: { inputs: {} } });
  await does('agent_http_tools__list_available_tools', agent);
  await does('agent_http_tools__link_tool', { ...agent, body: ofTool });
  await does('agent_http_tools__update_tool_link', { ...agent, ...ofTool, body: exampleBody('updateToolLink') });
  await does('agent_http_tools__list_tool_links', agent);
  await does('agent_http_tools__unlink_tool', { ...agent, ...ofTool });
  await does('http_tools__delete_tool', ofTool);

  const mcp = await does('external_mcps__create_external_mcp', {
    body: { ...exampleBody('createExternalMcp'), url: server.url },
  });
  expect(mcp.status).toBe('CONNECTED');
  const ofMcp = { externalMcpPublicId: mcp.publicId };
  await does('external_mcps__list_external_mcps', { status: 'CONNECTED' });
  await does('external_mcps__get_external_mcp', ofMcp);
  await does('external_mcps__update_external_mcp', { ...ofMcp, body: { name: 'Renamed' } });
  await does('external_mcps__discover_external_mcp', ofMcp);
  await does('agent_external_mcps__list_available_external_mcps', agent);
  await does('agent_external_mcps__link_external_mcp', {
    ...agent,
    body: { ...exampleBody('linkExternalMcp'), ...ofMcp },
  });
  await does('agent_external_mcps__update_external_mcp_link', {
    ...agent,
    ...ofMcp,
    body: exampleBody('updateExternalMcpLink'),
  });
  await does('agent_external_mcps__list_external_mcp_links', agent);
  await does('agent_external_mcps__unlink_external_mcp', { ...agent, ...ofMcp });
  await does('external_mcps__delete_external_mcp', ofMcp);

  const connectionPublicId = await connectBuiltin(app.workspace, 'time');
  await does('agent_native_mcps__list_available_native_mcps', agent);
  await does('agent_native_mcps__link_native_mcps', { ...agent, body: { connectionPublicIds: [connectionPublicId] } });
  await does('agent_native_mcps__list_native_mcp_links', agent);
  await does('agent_native_mcps__update_native_mcp_instance_mode', {
    ...agent,
    connectionPublicId,
    body: exampleBody('updateNativeMcpInstanceMode'),
  });
  await does('agent_native_mcps__unlink_native_mcp', { ...agent, connectionPublicId });
  const { items: triggers } = await does('native_mcp_triggers__list_native_mcp_triggers', { toolkit: 'github' });
  const [trigger] = triggers as { slug: string }[];
  await does('native_mcp_triggers__get_native_mcp_trigger', { triggerSlug: trigger?.slug });
  await refuses('native_mcp_triggers__list_native_mcp_triggers', { toolkit: 'none' }, 'UNKNOWN_TOOLKIT');

  const { publicId: subAgentPublicId } = await does('agents__create_agent', { body: { name: 'Helper' } });
  await does('agent_sub_agents__list_available_sub_agents', agent);
  const { aiModelPublicId: _, ...link } = exampleBody('linkSubAgent');
  await does('agent_sub_agents__link_sub_agent', { ...agent, body: { ...link, subAgentPublicId } });
  await does('agent_sub_agents__list_sub_agent_links', agent);
  await does('agent_sub_agents__unlink_sub_agent', { ...agent, subAgentPublicId });
});

test('automations, channels and conversations', async () => {
  const agent = { agentPublicId: (await does('agents__create_agent', { body: { name: 'Speaker' } })).publicId };
  await refuses('messages__send_message', { ...agent, body: { content: 'Hello' } }, 'AGENT_NOT_PUBLISHED');
  await does('agents__update_agent', { ...agent, body: { aiModelPublicId: BUILTIN_MODEL.publicId } });
  await does('agents__publish_agent', agent);
  const automation = await does('agent_automations__create_automation', {
    ...agent,
    body: exampleBody('createAutomation'),
  });
  const ofAutomation = { ...agent, automationPublicId: automation.publicId };
  await does('agent_automations__list_automations', agent);
  await does('agent_automations__get_automation', ofAutomation);
  await does('agent_automations__update_automation', { ...ofAutomation, body: exampleBody('updateAutomation') });
  await does('agent_automations__list_automation_executions', ofAutomation);
  await does('agent_automations__delete_automation', ofAutomation);

  await does('channel_types__list_channel_types');
  await does('channel_types__get_channel_type', { channelType: 'web_chat' });
  const channel = await does('agent_channels__connect_channel', { ...agent, body: exampleBody('connectChannel') });
  const ofChannel = { ...agent, channelConnectionPublicId: channel.publicId };
  await does('agent_channels__configure_channel', { ...ofChannel, body: exampleBody('configureChannel') });
  await does('agent_channels__list_channels', agent);
  await does('agent_channels__get_channel', ofChannel);
  await does('agent_channels__get_channel_by_type', { ...agent, channelType: 'web_chat' });
  await does('agent_channels__update_channel_instance_mode', {
    ...ofChannel,
    body: { ...exampleBody('updateChannelInstanceMode'), confirm: true },
  });
  await does('agent_channels__delete_channel', ofChannel);

  const { metadata: _, ...message } = exampleBody('sendMessage');
  const reply = await does('messages__send_message', { ...agent, body: message });
  const conversation = { conversationPublicId: reply.conversationId };
  await does('conversations__list_conversations', { ...agent, status: 'open' });
  await does('conversations__get_conversation', conversation);
  await does('conversations__list_conversation_messages', { ...conversation, order: 'desc' });
  await does('conversations__delete_conversation', conversation);
});

test('plans, coupons, clients and the hub', async () => {
  const { publicId: agentPublicId } = await does('agents__create_agent', { body: { name: 'Sold' } });
  const creditPackage = await does('billing__create_credit_package', { body: exampleBody('createCreditPackage') });
  const ofPackage = { creditPackagePublicId: creditPackage.publicId };
  await does('billing__list_credit_packages');
  await does('billing__get_credit_package', ofPackage);
  await does('billing__update_credit_package', { ...ofPackage, body: exampleBody('updateCreditPackage') });
  const { content, ...fields } = exampleBody('createPlan') as Json & { content: Json };
  const { externalLinkPublicIds: _, ...pages } = content;
  const plan = await does('billing__create_plan', {
    body: { ...fields, ...ofPackage, content: { ...pages, agents: [{ agentPublicId }] } },
  });
  const ofPlan = { planPublicId: plan.publicId };
  await refuses('billing__delete_credit_package', ofPackage, 'CREDIT_PACKAGE_IN_USE');
  await does('billing__list_plans', { status: 'active' });
  await does('billing__get_plan', ofPlan);
  await does('billing__update_plan', { ...ofPlan, body: exampleBody('updatePlan') });
  const coupon = await does('billing__create_coupon', {
    body: { ...exampleBody('createCoupon'), scope: 'hub', applicablePlanIds: null, validUntil: null },
  });
  const ofCoupon = { couponPublicId: coupon.publicId };
  await does('billing__list_coupons');
  await does('billing__get_coupon', ofCoupon);
  await does('billing__update_coupon', { ...ofCoupon, body: exampleBody('updateCoupon') });
  await does('billing__delete_coupon', ofCoupon);

  const users = [
    { name: 'Ana', email: 'ana@client.example', role: 'admin' },
    { name: 'Ben', email: 'ben@client.example', role: 'member' },
  ];
  const client = await does('clients__create_client', { body: { workspaceName: 'Bakery', users, ...ofPlan } });
  const ofClient = { clientPublicId: client.publicId };
  const [ana, ben] = client.users as Made[];
  await does('clients__list_clients', { q: 'bak' });
  await does('clients__get_client', ofClient);
  const [invitation] = client.pendingInvitations as Made[];
  await does('clients__resend_client_invitation', { ...ofClient, invitationPublicId: invitation?.publicId });
  await does('clients__update_client_user', {
    ...ofClient,
    userPublicId: ben?.publicId,
    body: exampleBody('updateClientUser'),
  });
  await refuses('clients__remove_client_user', { ...ofClient, userPublicId: ana?.publicId }, 'LAST_ADMIN');
  await does('clients__remove_client_user', { ...ofClient, userPublicId: ben?.publicId });
  await does('clients__suspend_client', { ...ofClient, body: exampleBody('suspendClient') });
  await does('clients__reactivate_client', ofClient);
  await refuses('billing__delete_plan', ofPlan, 'PLAN_HAS_SUBSCRIBERS');
  await does('billing__delete_credit_package', {
    creditPackagePublicId: (
      await does('billing__create_credit_package', { body: { ...exampleBody('createCreditPackage'), name: 'Spare' } })
    ).publicId,
  });
  const free = await does('billing__create_plan', {
    body: { ...fields, name: 'Free', priceCents: 0, ...ofPackage, content: { ...pages, agents: [{ agentPublicId }] } },
  });

  await does('hub__get_hub');
  await does('hub__update_hub_identity', { body: exampleBody('updateHubIdentity') });
  await does('hub__upload_hub_logo', { type: 'icon', file_base64: pngOf(3).toString('base64'), file_name: 'icon.png' });
  await does('hub__delete_hub_logo', { type: 'icon' });
  await refuses(
    'hub_access__update_hub_access',
    { body: { accessType: 'public', defaultPlanPublicId: plan.publicId } },
    'DEFAULT_PLAN_NOT_FREE',
  );
  await does('hub_access__update_hub_access', {
    body: { ...exampleBody('updateHubAccess'), defaultPlanPublicId: free.publicId },
  });
  await does('hub_access__get_hub_access');
  await does('hub_access__update_hub_access', { body: { accessType: 'private' } });
  await does('billing__delete_plan', { planPublicId: free.publicId });
  await does('hub_domain__check_subdomain_availability', { subdomain: 'acme' });
  await does('hub_domain__update_hub_domain', { body: exampleBody('updateHubDomain') });
  await does('hub_domain__get_hub_domain');
  const link = await does('hub_external_links__create_external_link', { body: exampleBody('createExternalLink') });
  await does('hub_external_links__list_external_links');
  await does('hub_external_links__update_external_link', {
    linkPublicId: link.publicId,
    body: exampleBody('updateExternalLink'),
  });
  await does('hub_external_links__delete_external_link', { linkPublicId: link.publicId });
});

test('every tool has succeeded once, and whatever was refused was refused with a code of its operation', () => {
  const names = tools.list().map(({ name }) => name);
  expect([...outcomes.keys()].toSorted()).toEqual(names.toSorted());
  expect(names.filter((name) => !outcomes.get(name)?.includes('success'))).toEqual([]);
  const ids = (Object.keys(operations) as OperationId[]).filter((id) => id !== 'streamMessage');
  names.forEach((name, index) => {
    const id = ids[index] as OperationId;
    const documented: string[] = Object.values(operations[id].errorCodes).flat();
    const refused = (outcomes.get(name) ?? []).filter((outcome) => outcome !== 'success');
    expect(documented).toEqual(expect.arrayContaining(refused));
  });
});
