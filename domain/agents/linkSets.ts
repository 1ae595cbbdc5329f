import type { LinkedRow, LinkKind } from '../../db/queries/agents/agentLinks.ts';
import type { components } from '../../generated/api.ts';
import type { Snapshot, SnapshotExternalMcp, SnapshotNativeMcp } from '../../runtime/resources/snapshot.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Schemas = components['schemas'];

/** A skill link as the contract shows it, in lists and in versions. */
export function skillLinkBody(row: LinkedRow): Schemas['SkillLink'] {
  return { skillPublicId: row.target_id, skillName: row.target_name, active: row.active };
}

/** A knowledge source link as the contract shows it, in lists and in versions. */
export function knowledgeSourceLinkBody(row: LinkedRow): Schemas['KnowledgeSourceLink'] {
  return { knowledgeSourcePublicId: row.target_id, knowledgeSourceName: row.target_name, active: row.active };
}

/** A tool link as the contract shows it, in lists and in versions. */
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
  return { ...externalMcpSnapshot(row), serverUrl: row.server_url ?? '' };
}

function externalMcpSnapshot(row: LinkedRow): SnapshotExternalMcp {
  return {
    externalMcpPublicId: row.target_id,
    serverName: row.target_name,
    active: row.active,
    instanceMode: row.instance_mode,
    requiresApproval: row.requires_approval,
  };
}

function nativeMcpSnapshot(row: LinkedRow): SnapshotNativeMcp {
  return { connectionPublicId: row.target_id, connectionName: row.target_name, instanceMode: row.instance_mode };
}

/** A sub-agent link as the contract shows it, in lists and in versions. */
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

/** Sub-agents by their place in the list; the one linked first comes first where places are equal. `rows` are in the order of linking. */
export function inSortOrder(rows: LinkedRow[]): LinkedRow[] {
  return rows.toSorted((a, b) => a.sort_order - b.sort_order);
}

type LinkSets = Required<
  Pick<Snapshot, 'httpTools' | 'knowledgeSources' | 'skills' | 'subAgents' | 'externalMcps' | 'nativeMcps'>
>;

/** The six link sets of a snapshot, from links in the order in which they were made. */
export function linkSets(rows: LinkedRow[], runtime: Pick<Runtime, 'findGlobalModel'>): LinkSets {
  const of = (kind: LinkKind) => rows.filter((row) => row.kind === kind);
  return {
    httpTools: of('http_tool').map(toolLinkBody),
    knowledgeSources: of('knowledge_source').map(knowledgeSourceLinkBody),
    skills: of('skill').map(skillLinkBody),
    subAgents: inSortOrder(of('sub_agent')).map((row) => subAgentLinkBody(row, runtime)),
    externalMcps: of('external_mcp').map(externalMcpSnapshot),
    nativeMcps: of('native_mcp').map(nativeMcpSnapshot),
  };
}

/** A link of a snapshot as it is stored in a draft, less whose it is. */
export type RestoredLink = Pick<LinkedRow, 'kind' | 'target_id'> &
  Partial<
    Pick<LinkedRow, 'active' | 'requires_approval' | 'instance_mode' | 'description' | 'ai_model_id' | 'sort_order'>
  >;

/** The links that a snapshot froze, in the order in which they were made. */
export function linksOfSnapshot(snapshot: Snapshot): RestoredLink[] {
  return [
    ...snapshot.skills.map(({ skillPublicId, active }) => ({
      kind: 'skill' as const,
      target_id: skillPublicId,
      active,
    })),
    ...snapshot.knowledgeSources.map(({ knowledgeSourcePublicId, active }) => ({
      kind: 'knowledge_source' as const,
      target_id: knowledgeSourcePublicId,
      active,
    })),
    ...snapshot.httpTools.map(({ httpToolPublicId, active, requiresApproval }) => ({
      kind: 'http_tool' as const,
      target_id: httpToolPublicId,
      active,
      requires_approval: requiresApproval,
    })),
    ...(snapshot.externalMcps ?? []).map(({ externalMcpPublicId, active, instanceMode, requiresApproval }) => ({
      kind: 'external_mcp' as const,
      target_id: externalMcpPublicId,
      active,
      instance_mode: instanceMode,
      requires_approval: requiresApproval,
    })),
    ...(snapshot.nativeMcps ?? []).map(({ connectionPublicId, instanceMode }) => ({
      kind: 'native_mcp' as const,
      target_id: connectionPublicId,
      instance_mode: instanceMode,
    })),
    ...snapshot.subAgents.map(({ subAgentPublicId, description, aiModelPublicId, sortOrder }) => ({
      kind: 'sub_agent' as const,
      target_id: subAgentPublicId,
      description,
      ai_model_id: aiModelPublicId,
      sort_order: sortOrder,
    })),
  ];
}
