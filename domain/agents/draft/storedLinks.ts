import type { LinkedRow, LinkKind } from '../../../db/queries/agents/agentLinks.ts';
import type { AgentSnapshot, StoredToolLink } from '../../../db/stored/agentSnapshot.ts';

/** Sub-agents by their place in the list; the one linked first comes first where places are equal. `rows` are in the order of linking. */
export function inSortOrder(rows: LinkedRow[]): LinkedRow[] {
  return rows.toSorted((a, b) => a.sort_order - b.sort_order);
}

/** The links of a version, a list for each kind. */
export type StoredLinks = Pick<
  AgentSnapshot,
  'httpTools' | 'knowledgeSources' | 'skills' | 'subAgents' | 'externalMcps' | 'nativeMcps'
>;

/**
 * Links as a version stores them, from links in the order in which they were made. `globalModelName` is the name of a model of the
 * global catalogue.
 */
export function storedLinks(rows: LinkedRow[], globalModelName: (id: string) => string | undefined): StoredLinks {
  const of = (kind: LinkKind) => rows.filter((row) => row.kind === kind);
  return {
    httpTools: of('http_tool').map((row) => ({
      httpToolPublicId: row.target_id,
      toolName: row.target_name,
      toolType: row.tool_type as StoredToolLink['toolType'], // never null for this kind
      active: row.active,
      requiresApproval: row.requires_approval,
    })),
    knowledgeSources: of('knowledge_source').map((row) => ({
      knowledgeSourcePublicId: row.target_id,
      knowledgeSourceName: row.target_name,
      active: row.active,
    })),
    skills: of('skill').map((row) => ({
      skillPublicId: row.target_id,
      skillName: row.target_name,
      active: row.active,
    })),
    subAgents: inSortOrder(of('sub_agent')).map((row) => ({
      subAgentPublicId: row.target_id,
      subAgentName: row.target_name,
      description: row.description,
      aiModelPublicId: row.ai_model_id,
      aiModelName:
        row.custom_model_name ?? (row.ai_model_id === null ? null : (globalModelName(row.ai_model_id) ?? null)),
      sortOrder: row.sort_order,
    })),
    externalMcps: of('external_mcp').map((row) => ({
      externalMcpPublicId: row.target_id,
      serverName: row.target_name,
      active: row.active,
      instanceMode: row.instance_mode,
      requiresApproval: row.requires_approval,
    })),
    nativeMcps: of('native_mcp').map((row) => ({
      connectionPublicId: row.target_id,
      connectionName: row.target_name,
      instanceMode: row.instance_mode,
    })),
  };
}

/** A link of a version as the draft stores it, without workspace and agent. */
export type RestoredLink = Pick<LinkedRow, 'kind' | 'target_id'> &
  Partial<
    Pick<LinkedRow, 'active' | 'requires_approval' | 'instance_mode' | 'description' | 'ai_model_id' | 'sort_order'>
  >;

/** The links of a version, in the order in which they were made. */
export function linksOfVersion(stored: StoredLinks): RestoredLink[] {
  return [
    ...stored.skills.map(({ skillPublicId, active }) => ({
      kind: 'skill' as const,
      target_id: skillPublicId,
      active,
    })),
    ...stored.knowledgeSources.map(({ knowledgeSourcePublicId, active }) => ({
      kind: 'knowledge_source' as const,
      target_id: knowledgeSourcePublicId,
      active,
    })),
    ...stored.httpTools.map(({ httpToolPublicId, active, requiresApproval }) => ({
      kind: 'http_tool' as const,
      target_id: httpToolPublicId,
      active,
      requires_approval: requiresApproval,
    })),
    ...stored.externalMcps.map(({ externalMcpPublicId, active, instanceMode, requiresApproval }) => ({
      kind: 'external_mcp' as const,
      target_id: externalMcpPublicId,
      active,
      instance_mode: instanceMode,
      requires_approval: requiresApproval,
    })),
    ...stored.nativeMcps.map(({ connectionPublicId, instanceMode }) => ({
      kind: 'native_mcp' as const,
      target_id: connectionPublicId,
      instance_mode: instanceMode,
    })),
    ...stored.subAgents.map(({ subAgentPublicId, description, aiModelPublicId, sortOrder }) => ({
      kind: 'sub_agent' as const,
      target_id: subAgentPublicId,
      description,
      ai_model_id: aiModelPublicId,
      sort_order: sortOrder,
    })),
  ];
}
