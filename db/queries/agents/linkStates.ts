import { type Kysely, type Selectable, sql } from 'kysely';
import type { Agents, DB, ExternalMcps, KnowledgeSources } from '../../../generated/db.ts';
import type { StoredToolsLeftOut } from '../../stored/mcpTool.ts';
import type { LinkKind } from './agentLinks.ts';

/** A link of a draft, and what its target is now; also of a target that is deleted. */
export interface LinkState {
  kind: LinkKind;
  targetId: string;
  name: string;
  active: boolean;
  isDeleted: boolean;
  /** Of a knowledge source. */
  sourceStatus: Selectable<KnowledgeSources>['processing_status'] | null;
  /** Of an MCP server. */
  serverStatus: Selectable<ExternalMcps>['status'] | null;
  /** Of an MCP server. */
  toolsLeftOut: StoredToolsLeftOut | null;
  /** Of a sub-agent. */
  agentStatus: Selectable<Agents>['status'] | null;
  isPublished: boolean;
  /** The model that a link to a sub-agent names. */
  modelId: string | null;
  /** Whether that is a model of the workspace. Models of the catalogue are not in the database. */
  isOwnModel: boolean;
}

/** The links of an agent's draft with the states of their targets, in the order of linking. */
export async function selectLinkStates(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<LinkState[]> {
  const { rows } = await sql<LinkState>`
    select l.kind, l.target_id as "targetId", coalesce(s.name, k.name, h.name, e.name, n.name, a.name, '') as name, l.active,
      coalesce(s.deleted_at, k.deleted_at, h.deleted_at, e.deleted_at, n.deleted_at, a.deleted_at) is not null
        or coalesce(s.id, k.id, h.id, e.id, n.id, a.id) is null as "isDeleted",
      k.processing_status as "sourceStatus", e.status as "serverStatus",
      e.tools_left_out as "toolsLeftOut", a.status as "agentStatus",
      a.published_version_number is not null as "isPublished", l.ai_model_id as "modelId",
      m.id is not null as "isOwnModel"
    from agent_links l
    left join skills s on l.kind = 'skill' and s.workspace_id = l.workspace_id and s.id = l.target_id
    left join knowledge_sources k on l.kind = 'knowledge_source' and k.workspace_id = l.workspace_id and k.id = l.target_id
    left join http_tools h on l.kind = 'http_tool' and h.workspace_id = l.workspace_id and h.id = l.target_id
    left join external_mcps e on l.kind = 'external_mcp' and e.workspace_id = l.workspace_id and e.id = l.target_id
    left join native_connections n on l.kind = 'native_mcp' and n.workspace_id = l.workspace_id and n.id = l.target_id
    left join agents a on l.kind = 'sub_agent' and a.workspace_id = l.workspace_id and a.id = l.target_id
    left join ai_models m on m.workspace_id = l.workspace_id and m.id = l.ai_model_id and m.deleted_at is null
    where l.workspace_id = ${workspaceId} and l.agent_id = ${agentId}
    order by l.seq`.execute(db);
  return rows;
}
