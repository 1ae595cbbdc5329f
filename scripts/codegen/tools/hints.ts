/**
 * What a model is told about a field or a parameter whose name does not say it, in a few words. The document has the whole text; a
 * model that reads 135 tools gets this. A field that is not here has a name that speaks for itself. Keys are schemas of the document,
 * several with a space between them, and parameters by their component names under `parameters`.
 */
const HINTS: Record<string, Record<string, string>> = {
  parameters: {
    ActiveOnly: 'false: also those without a configured provider',
    AgentCategoriesFilter: 'any of these tags',
    AgentFeatureKey:
      'follow-up, message-splitting, message-delay, long-term-memory, sandbox, genui, audio or web-search',
    AiModelProviderFilter: 'such as openai',
    ChannelConnectionPublicId: 'publicId of a channel of the agent',
    ChannelTypeName: 'whatsapp, z_api or web_chat',
    ConnectedChannelType: 'whatsapp, z_api or web_chat',
    ClientSearch: 'text in workspace, user name or email',
    ConversationStatusFilter: 'paused: a person has taken over',
    DeleteConfirmation: 'DELETE, needed for mode purge',
    IncludeOrphaned: 'also those that the prompt does not use',
    LastMessageSince: 'last message at this time or later',
    LastMessageUntil: 'last message at this time or earlier',
    MessageOrder: 'by sentAt; default asc',
    TriggerToolkit: 'slug, such as gmail',
    VariableDeleteMode: 'remove_from_prompt (default) keeps the variable; purge deletes it and its stored values',
  },
  'AgentCreate AgentUpdate': { categories: 'free tags' },
  'AgentUpdate AgentPromptUpdate': {
    systemPrompt: '{{name}} inserts a variable if dynamicPromptEnabled',
  },
  AgentUpdate: {
    sandboxEnabled: 'run JavaScript',
    genuiEnabled: 'UI components in replies',
    audioListeningEnabled: 'transcribe voice messages',
    audioResponseEnabled: 'read replies aloud; needs ttsVoice',
    ttsVoice: 'such as alloy',
    longTermMemoryEnabled: 'remember facts by externalUserId',
    messageDelayEnabled: 'typing pause on channels',
    messageSplittingEnabled: 'long replies as several messages',
    followUpEnabled: 'write again to silent users; needs followUpMaxAttempts, followUpIntervalMinutes',
    followUpBusinessHoursStart: 'HH:MM',
    followUpBusinessHoursEnd: 'HH:MM',
  },
  'AgentVariableCreate AgentVariableUpdate': {
    name: 'used as {{name}}',
    defaultValue: 'in the form of type',
    options: 'for single_choice and multi_choice only',
    multiChoiceSeparator: 'default ", "',
  },
  'VariableOptionInput AgentVariableCreate': { label: 'shown in forms' },
  VariableOptionInput: { injectedText: 'what the prompt says when chosen' },
  AgentVariableDelete: { confirmation: 'DELETE, needed for mode purge' },
  AgentFeatureUpdate: { config: 'settings of this feature only' },
  FollowUpConfig: { businessHoursStart: 'HH:MM', businessHoursEnd: 'HH:MM' },
  'AgentCommandCreate AgentCommandUpdate': {
    command: 'word after the slash',
    prompt: 'what the agent gets, followed by what was typed',
  },
  'HttpToolLinkUpdate ExternalMcpLinkUpdate': { requiresApproval: 'a person approves each call' },
  'HttpToolCreate HttpToolUpdate': {
    name: 'models call it by this',
    description: 'models decide by it',
    requiresApproval: 'a person approves each call',
  },
  HttpToolCreate: { toolType: 'PARTNER_MCP is refused', configuration: 'the shape of its toolType' },
  HttpToolUpdate: {
    toolType: 'never send it: immutable',
    configuration: 'the whole configuration; a secret sent as ******** stays',
  },
  HttpRequestConfiguration: {
    url: 'may have {{input.x}} and {{secret.x}}, as may headers, query and body',
    body: 'JSON or text',
    inputSchema: 'JSON Schema of the inputs, type object',
    secrets: 'values by name',
  },
  DatabaseQueryConfiguration: {
    connection: 'postgres://…, secret',
    query: 'one SELECT; :x is the input x',
    inputSchema: 'JSON Schema of the inputs, type object',
  },
  CustomIntegrationConfiguration: {
    openapi: 'OpenAPI 3 document: https address or object',
    operations: 'operationIds',
  },
  HttpToolTest: { inputs: 'by the inputSchema of the tool; {} if none' },
  'ExternalMcpLinkCreate ExternalMcpLinkUpdate': {
    instanceMode: 'STATIC: one shared connection; DYNAMIC: one for each call',
  },
  'ExternalMcpCreate ExternalMcpUpdate': {
    url: 'https',
    authType: 'OAUTH_AUTHORIZATION_CODE is refused',
    authValue: 'for API_KEY and BEARER_TOKEN',
    authHeaders: 'for CUSTOM_HEADER',
    authHeaderName: 'header of API_KEY, default X-Api-Key',
  },
  ExternalMcpCreate: { rejectIfNotConnected: 'fail and store nothing if discovery fails' },
  NativeMcpInstanceModeUpdate: { instanceMode: 'tools loaded up front (STATIC) or on demand' },
  SubAgentLinkCreate: {
    description: 'when and how to delegate',
    aiModelPublicId: "instead of the sub-agent's own",
  },
  'AutomationCreate AutomationUpdate': {
    hitlMode: 'when a call needs approval',
    triggerMode: 'webhook_url: the answer has a secret address',
    schedule: 'cron of five fields or @daily; for triggerMode schedule',
    timezone: 'IANA, default UTC',
    triggerToolkitSlug: 'for triggerMode webhook',
    triggerSlug: 'for triggerMode webhook',
    triggerConfig: 'by configSchema of native_mcp_triggers__get_native_mcp_trigger',
  },
  ChannelConnect: { channelType: 'whatsapp, z_api or web_chat' },
  ChannelConfigure: {
    channelSpecificConfig: 'by configSchema of channel_types__get_channel_type; replaced whole',
    credentials: 'by its credentialsSchema; replaced whole',
  },
  ChannelInstanceModeUpdate: { confirm: 'true: accept that open conversations end' },
  MessageSend: {
    content: 'needed without attachments; /word invokes a command',
    conversationId: 'continue this conversation; else a new one starts',
    externalUserId: 'your stable id of the end user',
    isTest: 'keep out of the inbox',
    metadata: 'any JSON of yours',
    timeoutSeconds: 'default 60',
  },
  Attachment: { base64: 'or url; at most 1 MiB decoded', url: 'or base64' },
  MessageMetadata: {
    variables: 'values by name',
    approvals: 'approve or reject by publicId of pendingApprovals',
    clientPublicId: 'the client that pays',
  },
  ClientCreate: {
    inviteToTrial: "start on the hub's trial plan",
    creditsOverride: 'credits to start with',
    periodEndOverride: 'end of the first period',
  },
  CouponCreate: {
    code: 'what customers type',
    discountValue: 'percent (1 to 100), or amount in cents',
    durationMonths: 'for repeating only',
    applicablePlanIds: 'for scope plans only',
  },
  'CouponCreate CouponUpdate': { name: 'internal' },
  'CreditPackageCreate CreditPackageUpdate': {
    creditValueCents: 'price of one credit',
    extraCreditsAmount: 'bonus credits',
    renewalIntervalMonths: 'absent: granted once',
  },
  PlanCreate: {
    billingIntervalMonths: 'at least 1 if recurring',
    currency: 'ISO 4217',
    visible: 'default true',
  },
  'PlanCreate PlanUpdate': {
    extraCreditsPriceCents: 'needed if extraCreditsEnabled',
    packagePublicId: 'hubPackage of another plan, instead of content',
    content: 'what the plan gives access to, instead of packagePublicId',
  },
  HubUpdate: {
    primaryColor: '#rrggbb',
    secondaryColor: '#rrggbb',
    pricingWidgetColor: '#rrggbb',
    supportChannelValue: 'email, phone or URL',
  },
  HubAccessUpdate: { defaultPlanPublicId: 'must be free while public' },
};

/** The words about a field or a parameter, by the schema that has it (or `parameters`) and its name. */
export type Hints = Map<string, string>;

/**
 * All hints, by `Schema.field`.
 * @throws Error when two of them are about the same field
 */
export function hints(): Hints {
  const result: Hints = new Map();
  for (const [owners, fields] of Object.entries(HINTS)) {
    for (const owner of owners.split(' ')) {
      for (const [field, text] of Object.entries(fields)) {
        const key = `${owner}.${field}`;
        if (result.has(key)) throw new Error(`scripts/codegen/tools/hints.ts: two hints for ${key}`);
        result.set(key, text);
      }
    }
  }
  return result;
}
