// Written by `npm run codegen` from spec/ and handlers/. Do not edit.
import type { Handler } from '../handlers/handler.ts';
import { createAgent } from '../handlers/agents/createAgent.ts';
import { createVariable } from '../handlers/agent-variables/createVariable.ts';
import { deleteAgent } from '../handlers/agents/deleteAgent.ts';
import { deleteConversation } from '../handlers/conversations/deleteConversation.ts';
import { deleteVariable } from '../handlers/agent-variables/deleteVariable.ts';
import { getAgent } from '../handlers/agents/getAgent.ts';
import { getAgentModel } from '../handlers/agent-model/getAgentModel.ts';
import { getAgentPrompt } from '../handlers/agent-prompt/getAgentPrompt.ts';
import { getConversation } from '../handlers/conversations/getConversation.ts';
import { getHealth } from '../handlers/public-api/getHealth.ts';
import { getPublishedVersion } from '../handlers/agent-versions/getPublishedVersion.ts';
import { getVersion } from '../handlers/agent-versions/getVersion.ts';
import { listAgents } from '../handlers/agents/listAgents.ts';
import { listAiModels } from '../handlers/ai-models/listAiModels.ts';
import { listConversationMessages } from '../handlers/conversations/listConversationMessages.ts';
import { listConversations } from '../handlers/conversations/listConversations.ts';
import { listVariables } from '../handlers/agent-variables/listVariables.ts';
import { listVersions } from '../handlers/agent-versions/listVersions.ts';
import { publishAgent } from '../handlers/agents/publishAgent.ts';
import { restoreVersion } from '../handlers/agent-versions/restoreVersion.ts';
import { sendMessage } from '../handlers/messages/sendMessage.ts';
import { streamMessage } from '../handlers/messages/streamMessage.ts';
import { updateAgent } from '../handlers/agents/updateAgent.ts';
import { updateAgentModel } from '../handlers/agent-model/updateAgentModel.ts';
import { updateAgentPrompt } from '../handlers/agent-prompt/updateAgentPrompt.ts';
import { updateVariable } from '../handlers/agent-variables/updateVariable.ts';
import type { OperationId } from './operations.ts';

const waiting = [
  'listFeatures',
  'getFeature',
  'updateFeature',
  'listCommands',
  'createCommand',
  'getCommand',
  'deleteCommand',
  'updateCommand',
  'listSkillLinks',
  'linkSkill',
  'listAvailableSkills',
  'unlinkSkill',
  'listSkills',
  'uploadSkill',
  'getSkill',
  'deleteSkill',
  'updateSkill',
  'listKnowledgeSourceLinks',
  'linkKnowledgeSource',
  'listAvailableKnowledgeSources',
  'unlinkKnowledgeSource',
  'listKnowledgeSources',
  'createKnowledgeSource',
  'getKnowledgeSource',
  'deleteKnowledgeSource',
  'updateKnowledgeSource',
  'listToolLinks',
  'linkTool',
  'listAvailableTools',
  'unlinkTool',
  'updateToolLink',
  'listTools',
  'createTool',
  'getTool',
  'deleteTool',
  'updateTool',
  'testTool',
  'listExternalMcpLinks',
  'linkExternalMcp',
  'listAvailableExternalMcps',
  'unlinkExternalMcp',
  'updateExternalMcpLink',
  'listExternalMcps',
  'createExternalMcp',
  'getExternalMcp',
  'deleteExternalMcp',
  'updateExternalMcp',
  'discoverExternalMcp',
  'listNativeMcpLinks',
  'linkNativeMcps',
  'listAvailableNativeMcps',
  'unlinkNativeMcp',
  'updateNativeMcpInstanceMode',
  'listNativeMcpTriggers',
  'getNativeMcpTrigger',
  'listSubAgentLinks',
  'linkSubAgent',
  'listAvailableSubAgents',
  'unlinkSubAgent',
  'listAutomations',
  'createAutomation',
  'getAutomation',
  'deleteAutomation',
  'updateAutomation',
  'listAutomationExecutions',
  'listChannels',
  'connectChannel',
  'getChannelByType',
  'getChannel',
  'deleteChannel',
  'configureChannel',
  'updateChannelInstanceMode',
  'listChannelTypes',
  'getChannelType',
  'listClients',
  'createClient',
  'getClient',
  'resendClientInvitation',
  'reactivateClient',
  'suspendClient',
  'removeClientUser',
  'updateClientUser',
  'listCoupons',
  'createCoupon',
  'getCoupon',
  'deleteCoupon',
  'updateCoupon',
  'listCreditPackages',
  'createCreditPackage',
  'getCreditPackage',
  'updateCreditPackage',
  'deleteCreditPackage',
  'listPlans',
  'createPlan',
  'getPlan',
  'deletePlan',
  'updatePlan',
  'getHub',
  'updateHubIdentity',
  'uploadHubLogo',
  'deleteHubLogo',
  'getHubAccess',
  'updateHubAccess',
  'getHubDomain',
  'updateHubDomain',
  'checkSubdomainAvailability',
  'listExternalLinks',
  'createExternalLink',
  'deleteExternalLink',
  'updateExternalLink',
] as const satisfies readonly OperationId[];

/** Operations that the document has and the service does not yet: they answer 501. */
export const pending: readonly OperationId[] = waiting;

/** An operation that has a handler. */
export type ImplementedId = Exclude<OperationId, (typeof waiting)[number]>;

/** The handler of every operation that is not pending. */
export const handlers: { readonly [Id in ImplementedId]: Handler<Id> } = {
  getHealth,
  listAgents,
  createAgent,
  getAgent,
  deleteAgent,
  updateAgent,
  publishAgent,
  listVersions,
  getPublishedVersion,
  getVersion,
  restoreVersion,
  getAgentPrompt,
  updateAgentPrompt,
  listVariables,
  createVariable,
  deleteVariable,
  updateVariable,
  getAgentModel,
  updateAgentModel,
  listAiModels,
  sendMessage,
  streamMessage,
  listConversations,
  getConversation,
  deleteConversation,
  listConversationMessages,
};
