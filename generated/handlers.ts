// Written by `npm run codegen` from spec/ and handlers/. Do not edit.
import type { Handler } from '../handlers/handler.ts';
import { checkSubdomainAvailability } from '../handlers/hub-domain/checkSubdomainAvailability.ts';
import { configureChannel } from '../handlers/agent-channels/configureChannel.ts';
import { connectChannel } from '../handlers/agent-channels/connectChannel.ts';
import { createAgent } from '../handlers/agents/createAgent.ts';
import { createAutomation } from '../handlers/agent-automations/createAutomation.ts';
import { createClient } from '../handlers/clients/createClient.ts';
import { createCommand } from '../handlers/agent-commands/createCommand.ts';
import { createCoupon } from '../handlers/billing/createCoupon.ts';
import { createCreditPackage } from '../handlers/billing/createCreditPackage.ts';
import { createExternalLink } from '../handlers/hub-external-links/createExternalLink.ts';
import { createExternalMcp } from '../handlers/external-mcps/createExternalMcp.ts';
import { createKnowledgeSource } from '../handlers/knowledge-sources/createKnowledgeSource.ts';
import { createPlan } from '../handlers/billing/createPlan.ts';
import { createTool } from '../handlers/http-tools/createTool.ts';
import { createVariable } from '../handlers/agent-variables/createVariable.ts';
import { deleteAgent } from '../handlers/agents/deleteAgent.ts';
import { deleteAutomation } from '../handlers/agent-automations/deleteAutomation.ts';
import { deleteChannel } from '../handlers/agent-channels/deleteChannel.ts';
import { deleteCommand } from '../handlers/agent-commands/deleteCommand.ts';
import { deleteConversation } from '../handlers/conversations/deleteConversation.ts';
import { deleteCoupon } from '../handlers/billing/deleteCoupon.ts';
import { deleteCreditPackage } from '../handlers/billing/deleteCreditPackage.ts';
import { deleteExternalLink } from '../handlers/hub-external-links/deleteExternalLink.ts';
import { deleteExternalMcp } from '../handlers/external-mcps/deleteExternalMcp.ts';
import { deleteHubLogo } from '../handlers/hub/deleteHubLogo.ts';
import { deleteKnowledgeSource } from '../handlers/knowledge-sources/deleteKnowledgeSource.ts';
import { deletePlan } from '../handlers/billing/deletePlan.ts';
import { deleteSkill } from '../handlers/skills/deleteSkill.ts';
import { deleteTool } from '../handlers/http-tools/deleteTool.ts';
import { deleteVariable } from '../handlers/agent-variables/deleteVariable.ts';
import { discoverExternalMcp } from '../handlers/external-mcps/discoverExternalMcp.ts';
import { getAgent } from '../handlers/agents/getAgent.ts';
import { getAgentModel } from '../handlers/agent-model/getAgentModel.ts';
import { getAgentPrompt } from '../handlers/agent-prompt/getAgentPrompt.ts';
import { getAutomation } from '../handlers/agent-automations/getAutomation.ts';
import { getChannel } from '../handlers/agent-channels/getChannel.ts';
import { getChannelByType } from '../handlers/agent-channels/getChannelByType.ts';
import { getChannelType } from '../handlers/channel-types/getChannelType.ts';
import { getClient } from '../handlers/clients/getClient.ts';
import { getCommand } from '../handlers/agent-commands/getCommand.ts';
import { getConversation } from '../handlers/conversations/getConversation.ts';
import { getCoupon } from '../handlers/billing/getCoupon.ts';
import { getCreditPackage } from '../handlers/billing/getCreditPackage.ts';
import { getExternalMcp } from '../handlers/external-mcps/getExternalMcp.ts';
import { getFeature } from '../handlers/agent-features/getFeature.ts';
import { getHealth } from '../handlers/public-api/getHealth.ts';
import { getHub } from '../handlers/hub/getHub.ts';
import { getHubAccess } from '../handlers/hub-access/getHubAccess.ts';
import { getHubDomain } from '../handlers/hub-domain/getHubDomain.ts';
import { getKnowledgeSource } from '../handlers/knowledge-sources/getKnowledgeSource.ts';
import { getNativeMcpTrigger } from '../handlers/native-mcp-triggers/getNativeMcpTrigger.ts';
import { getPlan } from '../handlers/billing/getPlan.ts';
import { getPublishedVersion } from '../handlers/agent-versions/getPublishedVersion.ts';
import { getSkill } from '../handlers/skills/getSkill.ts';
import { getTool } from '../handlers/http-tools/getTool.ts';
import { getVersion } from '../handlers/agent-versions/getVersion.ts';
import { linkExternalMcp } from '../handlers/agent-external-mcps/linkExternalMcp.ts';
import { linkKnowledgeSource } from '../handlers/agent-knowledge-sources/linkKnowledgeSource.ts';
import { linkNativeMcps } from '../handlers/agent-native-mcps/linkNativeMcps.ts';
import { linkSkill } from '../handlers/agent-skills/linkSkill.ts';
import { linkSubAgent } from '../handlers/agent-sub-agents/linkSubAgent.ts';
import { linkTool } from '../handlers/agent-http-tools/linkTool.ts';
import { listAgents } from '../handlers/agents/listAgents.ts';
import { listAiModels } from '../handlers/ai-models/listAiModels.ts';
import { listAutomationExecutions } from '../handlers/agent-automations/listAutomationExecutions.ts';
import { listAutomations } from '../handlers/agent-automations/listAutomations.ts';
import { listAvailableExternalMcps } from '../handlers/agent-external-mcps/listAvailableExternalMcps.ts';
import { listAvailableKnowledgeSources } from '../handlers/agent-knowledge-sources/listAvailableKnowledgeSources.ts';
import { listAvailableNativeMcps } from '../handlers/agent-native-mcps/listAvailableNativeMcps.ts';
import { listAvailableSkills } from '../handlers/agent-skills/listAvailableSkills.ts';
import { listAvailableSubAgents } from '../handlers/agent-sub-agents/listAvailableSubAgents.ts';
import { listAvailableTools } from '../handlers/agent-http-tools/listAvailableTools.ts';
import { listChannelTypes } from '../handlers/channel-types/listChannelTypes.ts';
import { listChannels } from '../handlers/agent-channels/listChannels.ts';
import { listClients } from '../handlers/clients/listClients.ts';
import { listCommands } from '../handlers/agent-commands/listCommands.ts';
import { listConversationMessages } from '../handlers/conversations/listConversationMessages.ts';
import { listConversations } from '../handlers/conversations/listConversations.ts';
import { listCoupons } from '../handlers/billing/listCoupons.ts';
import { listCreditPackages } from '../handlers/billing/listCreditPackages.ts';
import { listExternalLinks } from '../handlers/hub-external-links/listExternalLinks.ts';
import { listExternalMcpLinks } from '../handlers/agent-external-mcps/listExternalMcpLinks.ts';
import { listExternalMcps } from '../handlers/external-mcps/listExternalMcps.ts';
import { listFeatures } from '../handlers/agent-features/listFeatures.ts';
import { listKnowledgeSourceLinks } from '../handlers/agent-knowledge-sources/listKnowledgeSourceLinks.ts';
import { listKnowledgeSources } from '../handlers/knowledge-sources/listKnowledgeSources.ts';
import { listNativeMcpLinks } from '../handlers/agent-native-mcps/listNativeMcpLinks.ts';
import { listNativeMcpTriggers } from '../handlers/native-mcp-triggers/listNativeMcpTriggers.ts';
import { listPlans } from '../handlers/billing/listPlans.ts';
import { listSkillLinks } from '../handlers/agent-skills/listSkillLinks.ts';
import { listSkills } from '../handlers/skills/listSkills.ts';
import { listSubAgentLinks } from '../handlers/agent-sub-agents/listSubAgentLinks.ts';
import { listToolLinks } from '../handlers/agent-http-tools/listToolLinks.ts';
import { listTools } from '../handlers/http-tools/listTools.ts';
import { listVariables } from '../handlers/agent-variables/listVariables.ts';
import { listVersions } from '../handlers/agent-versions/listVersions.ts';
import { publishAgent } from '../handlers/agents/publishAgent.ts';
import { reactivateClient } from '../handlers/clients/reactivateClient.ts';
import { removeClientUser } from '../handlers/clients/removeClientUser.ts';
import { resendClientInvitation } from '../handlers/clients/resendClientInvitation.ts';
import { restoreVersion } from '../handlers/agent-versions/restoreVersion.ts';
import { sendMessage } from '../handlers/messages/sendMessage.ts';
import { streamMessage } from '../handlers/messages/streamMessage.ts';
import { suspendClient } from '../handlers/clients/suspendClient.ts';
import { testTool } from '../handlers/http-tools/testTool.ts';
import { unlinkExternalMcp } from '../handlers/agent-external-mcps/unlinkExternalMcp.ts';
import { unlinkKnowledgeSource } from '../handlers/agent-knowledge-sources/unlinkKnowledgeSource.ts';
import { unlinkNativeMcp } from '../handlers/agent-native-mcps/unlinkNativeMcp.ts';
import { unlinkSkill } from '../handlers/agent-skills/unlinkSkill.ts';
import { unlinkSubAgent } from '../handlers/agent-sub-agents/unlinkSubAgent.ts';
import { unlinkTool } from '../handlers/agent-http-tools/unlinkTool.ts';
import { updateAgent } from '../handlers/agents/updateAgent.ts';
import { updateAgentModel } from '../handlers/agent-model/updateAgentModel.ts';
import { updateAgentPrompt } from '../handlers/agent-prompt/updateAgentPrompt.ts';
import { updateAutomation } from '../handlers/agent-automations/updateAutomation.ts';
import { updateChannelInstanceMode } from '../handlers/agent-channels/updateChannelInstanceMode.ts';
import { updateClientUser } from '../handlers/clients/updateClientUser.ts';
import { updateCommand } from '../handlers/agent-commands/updateCommand.ts';
import { updateCoupon } from '../handlers/billing/updateCoupon.ts';
import { updateCreditPackage } from '../handlers/billing/updateCreditPackage.ts';
import { updateExternalLink } from '../handlers/hub-external-links/updateExternalLink.ts';
import { updateExternalMcp } from '../handlers/external-mcps/updateExternalMcp.ts';
import { updateExternalMcpLink } from '../handlers/agent-external-mcps/updateExternalMcpLink.ts';
import { updateFeature } from '../handlers/agent-features/updateFeature.ts';
import { updateHubAccess } from '../handlers/hub-access/updateHubAccess.ts';
import { updateHubDomain } from '../handlers/hub-domain/updateHubDomain.ts';
import { updateHubIdentity } from '../handlers/hub/updateHubIdentity.ts';
import { updateKnowledgeSource } from '../handlers/knowledge-sources/updateKnowledgeSource.ts';
import { updateNativeMcpInstanceMode } from '../handlers/agent-native-mcps/updateNativeMcpInstanceMode.ts';
import { updatePlan } from '../handlers/billing/updatePlan.ts';
import { updateSkill } from '../handlers/skills/updateSkill.ts';
import { updateTool } from '../handlers/http-tools/updateTool.ts';
import { updateToolLink } from '../handlers/agent-http-tools/updateToolLink.ts';
import { updateVariable } from '../handlers/agent-variables/updateVariable.ts';
import { uploadHubLogo } from '../handlers/hub/uploadHubLogo.ts';
import { uploadSkill } from '../handlers/skills/uploadSkill.ts';
import type { OperationId } from './operations.ts';

const waiting = [

] as const satisfies readonly OperationId[];

/** Operations of the document that have no handler yet. They return 501. */
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
  listFeatures,
  getFeature,
  updateFeature,
  listCommands,
  createCommand,
  getCommand,
  deleteCommand,
  updateCommand,
  listSkillLinks,
  linkSkill,
  listAvailableSkills,
  unlinkSkill,
  listSkills,
  uploadSkill,
  getSkill,
  deleteSkill,
  updateSkill,
  listKnowledgeSourceLinks,
  linkKnowledgeSource,
  listAvailableKnowledgeSources,
  unlinkKnowledgeSource,
  listKnowledgeSources,
  createKnowledgeSource,
  getKnowledgeSource,
  deleteKnowledgeSource,
  updateKnowledgeSource,
  listToolLinks,
  linkTool,
  listAvailableTools,
  unlinkTool,
  updateToolLink,
  listTools,
  createTool,
  getTool,
  deleteTool,
  updateTool,
  testTool,
  listExternalMcpLinks,
  linkExternalMcp,
  listAvailableExternalMcps,
  unlinkExternalMcp,
  updateExternalMcpLink,
  listExternalMcps,
  createExternalMcp,
  getExternalMcp,
  deleteExternalMcp,
  updateExternalMcp,
  discoverExternalMcp,
  listNativeMcpLinks,
  linkNativeMcps,
  listAvailableNativeMcps,
  unlinkNativeMcp,
  updateNativeMcpInstanceMode,
  listNativeMcpTriggers,
  getNativeMcpTrigger,
  listSubAgentLinks,
  linkSubAgent,
  listAvailableSubAgents,
  unlinkSubAgent,
  listAutomations,
  createAutomation,
  getAutomation,
  deleteAutomation,
  updateAutomation,
  listAutomationExecutions,
  listChannels,
  connectChannel,
  getChannelByType,
  getChannel,
  deleteChannel,
  configureChannel,
  updateChannelInstanceMode,
  listChannelTypes,
  getChannelType,
  sendMessage,
  streamMessage,
  listConversations,
  getConversation,
  deleteConversation,
  listConversationMessages,
  listClients,
  createClient,
  getClient,
  resendClientInvitation,
  reactivateClient,
  suspendClient,
  removeClientUser,
  updateClientUser,
  listCoupons,
  createCoupon,
  getCoupon,
  deleteCoupon,
  updateCoupon,
  listCreditPackages,
  createCreditPackage,
  getCreditPackage,
  updateCreditPackage,
  deleteCreditPackage,
  listPlans,
  createPlan,
  getPlan,
  deletePlan,
  updatePlan,
  getHub,
  updateHubIdentity,
  uploadHubLogo,
  deleteHubLogo,
  getHubAccess,
  updateHubAccess,
  getHubDomain,
  updateHubDomain,
  checkSubdomainAvailability,
  listExternalLinks,
  createExternalLink,
  deleteExternalLink,
  updateExternalLink,
};
