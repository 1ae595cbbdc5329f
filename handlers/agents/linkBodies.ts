import type { LinkedRow } from '../../db/queries/agents/agentLinks.ts';
import type { components } from '../../generated/api.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Schemas = components['schemas'];

/** A skill link as the contract shows it. */
export function skillLinkBody(row: LinkedRow): Schemas['SkillLink'] {
  return { skillPublicId: row.target_id, skillName: row.target_name, active: row.active };
}

/** A knowledge source link as the contract shows it. */
export function knowledgeSourceLinkBody(row: LinkedRow): Schemas['KnowledgeSourceLink'] {
  return { knowledgeSourcePublicId: row.target_id, knowledgeSourceName: row.target_name, active: row.active };
}

/** A tool link as the contract shows it. `row` is of kind http_tool. */
export function toolLinkBody(row: LinkedRow): Schemas['HttpToolLink'] {
  return {
    httpToolPublicId: row.target_id,
    toolName: row.target_name,
    toolType: row.tool_type as Schemas['HttpToolType'],
    active: row.active,
    requiresApproval: row.requires_approval,
  };
}

/** An external MCP link as the contract shows it. */
export function externalMcpLinkBody(row: LinkedRow): Schemas['ExternalMcpLink'] {
  return {
    externalMcpPublicId: row.target_id,
    serverName: row.target_name,
    serverUrl: row.server_url ?? '',
    active: row.active,
    instanceMode: row.instance_mode,
    requiresApproval: row.requires_approval,
  };
}

/** A sub-agent link as the contract shows it. */
export function subAgentLinkBody(row: LinkedRow, runtime: Pick<Runtime, 'findGlobalModel'>): Schemas['SubAgentLink'] {
  const globalModel = row.ai_model_id === null ? undefined : runtime.findGlobalModel(row.ai_model_id);
  return {
    subAgentPublicId: row.target_id,
    subAgentName: row.target_name,
    description: row.description,
    aiModelPublicId: row.ai_model_id,
    aiModelName: row.custom_model_name ?? globalModel?.name ?? null,
    sortOrder: row.sort_order,
  };
}
