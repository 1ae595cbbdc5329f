import type { AnyCode } from '../../sdk/index.ts';

/** The tool that lists what was not found. */
const LISTS: Partial<Record<AnyCode, string>> = {
  AGENT_NOT_FOUND: 'agents__list_agents',
  AI_MODEL_NOT_FOUND: 'ai_models__list_ai_models',
  AUTOMATION_NOT_FOUND: 'agent_automations__list_automations',
  CHANNEL_CONNECTION_NOT_FOUND: 'agent_channels__list_channels',
  CLIENT_NOT_FOUND: 'clients__list_clients',
  COMMAND_NOT_FOUND: 'agent_commands__list_commands',
  CONVERSATION_NOT_FOUND: 'conversations__list_conversations',
  COUPON_NOT_FOUND: 'billing__list_coupons',
  CREDIT_PACKAGE_NOT_FOUND: 'billing__list_credit_packages',
  EXTERNAL_LINK_NOT_FOUND: 'hub_external_links__list_external_links',
  EXTERNAL_MCP_NOT_FOUND: 'external_mcps__list_external_mcps',
  FEATURE_NOT_FOUND: 'agent_features__list_features',
  HTTP_TOOL_NOT_FOUND: 'http_tools__list_tools',
  INVALID_CHANNEL_TYPE: 'channel_types__list_channel_types',
  INVITATION_NOT_FOUND: 'clients__get_client',
  KNOWLEDGE_SOURCE_NOT_FOUND: 'knowledge_sources__list_knowledge_sources',
  NATIVE_MCP_CONNECTION_NOT_FOUND: 'agent_native_mcps__list_native_mcp_links',
  PACKAGE_NOT_FOUND: 'billing__list_plans',
  PLAN_NOT_FOUND: 'billing__list_plans',
  SKILL_NOT_FOUND: 'skills__list_skills',
  SUB_AGENT_NOT_FOUND: 'agents__list_agents',
  TRIGGER_NOT_FOUND: 'native_mcp_triggers__list_native_mcp_triggers',
  UNKNOWN_TRIGGER: 'native_mcp_triggers__list_native_mcp_triggers',
  USER_NOT_FOUND: 'clients__get_client',
  VARIABLE_NOT_FOUND: 'agent_variables__list_variables',
  VERSION_NOT_FOUND: 'agent_versions__list_versions',
};

const STEPS: Partial<Record<AnyCode, string>> = {
  AGENT_NOT_PUBLISHED: 'Publish it with agents__publish_agent.',
  AGENT_TIMEOUT:
    'The message is stored. Read conversations__list_conversation_messages, or send again with a larger timeoutSeconds.',
  AI_MODEL_REQUIRED: 'Choose a model of ai_models__list_ai_models with agent_model__update_agent_model.',
  ALREADY_LINKED: 'Nothing to do: it is linked.',
  CHANNEL_ALREADY_CONNECTED: 'Use the connection that agent_channels__list_channels shows.',
  CLIENT_NOT_ACTIVE: 'See its subscriptionStatus with clients__get_client.',
  CONFIRMATION_REQUIRED: 'Ask the person, then call again with the confirmation.',
  CONVERSATION_ENDED: 'Begin a new conversation: send without conversationId.',
  CONVERSATION_PAUSED: 'A person has taken over. The agent answers once the conversation is resumed.',
  CREDIT_PACKAGE_IN_USE: 'Take it out of the plans first.',
  DEFAULT_PLAN_REQUIRED: 'Give a free plan as defaultPlanPublicId.',
  EXTERNAL_MCP_NOT_ACTIVE: 'Run external_mcps__discover_external_mcp and read its errorMessage.',
  IMMUTABLE_FIELD: 'Leave the field out.',
  INVALID_CHANNEL_CONFIG: 'Read configSchema with channel_types__get_channel_type.',
  INVALID_CHANNEL_CREDENTIALS: 'Read credentialsSchema with channel_types__get_channel_type.',
  LAST_ADMIN: 'Make another user admin first.',
  MISSING_VARIABLE: 'Give its value in metadata.variables; agent_variables__list_variables shows them.',
  NOT_LINKED: 'List what is linked to this agent first.',
  NO_DRAFT_VERSION: 'The agent is archived: it cannot be changed.',
  OPERATION_LIMIT_REACHED: 'Do not repeat it: the limit holds until the next period. Tell the person.',
  PLAN_HAS_SUBSCRIBERS: 'Make another plan, or set this one to inactive.',
  SUB_AGENT_CYCLE: 'Choose an agent of agent_sub_agents__list_available_sub_agents.',
  TRIAL_NOT_ENABLED: 'Give a planPublicId instead of inviteToTrial.',
};

const BY_STATUS: Record<number, string> = {
  400: 'Correct the named fields and call again.',
  401: 'The API key is missing or wrong. Ask the person to log in again: guildhall auth login.',
  403: 'The key may not do this. Ask the person.',
  404: 'Check the ids: list the resources first.',
  409: 'The present state forbids it: read it first, then choose other values.',
  413: 'Send less.',
  415: 'Send a file of a kind that the description of the tool names.',
  422: 'Change what the message names, then call again.',
  429: 'Wait, then call again.',
  500: 'Try once more later. If it goes on, tell the person the requestId.',
  502: 'A service behind this one failed. Try again later.',
  503: 'Try again in a few seconds.',
};

/** What a model should do after an error, in a sentence; undefined where nothing is known that the message does not say. */
export function nextStep({
  code,
  status,
  retryAfterSeconds,
  tool,
}: {
  code: AnyCode | 'UNREADABLE_RESPONSE';
  status: number;
  retryAfterSeconds?: number | undefined;
  tool: string;
}): string | undefined {
  if (code === 'UNREADABLE_RESPONSE')
    return 'This is not the API: the address of the service may be wrong. Ask the person.';
  const list = LISTS[code];
  if (list !== undefined && list !== tool) return `Find the right one with ${list}.`;
  if (STEPS[code] !== undefined) return STEPS[code];
  if (code.endsWith('_TAKEN')) return 'Choose another one, or use what has it already.';
  if (code.endsWith('_LIMIT_REACHED')) return 'Remove one that is not needed, or tell the person.';
  if (status === 429 && retryAfterSeconds !== undefined) return `Wait ${retryAfterSeconds} seconds, then call again.`;
  return BY_STATUS[status];
}
