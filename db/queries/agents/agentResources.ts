import { type Kysely, type Selectable, sql } from 'kysely';
import type {
  Agents,
  AiModels,
  DB,
  ExternalMcps,
  HttpTools,
  NativeConnections,
  Skills,
} from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';

/** What a published version is linked to, by id. */
export interface ResourceIds {
  /** The agent itself, for its channels. */
  agent: string;
  httpTools: readonly string[];
  externalMcps: readonly string[];
  nativeMcps: readonly string[];
  skills: readonly string[];
  subAgents: readonly string[];
  /** A model of the workspace's own; any other id finds nothing. */
  model: string | null;
}

/** A tool as far as a turn needs it. The document of a CUSTOM_INTEGRATION is left out: its operations were imported from it. */
export type HttpToolResource = Pick<
  Selectable<HttpTools>,
  'id' | 'name' | 'description' | 'tool_type' | 'configuration' | 'secrets' | 'operations' | 'requires_approval'
>;

/** A server with the tools that its last discovery found. */
export type ExternalMcpResource = Pick<
  Selectable<ExternalMcps>,
  | 'workspace_id'
  | 'id'
  | 'name'
  | 'url'
  | 'auth_type'
  | 'auth_header_name'
  | 'credential'
  | 'config_version'
  | 'tools'
  | 'input_schemas'
>;

/** A connection to a toolkit. */
export type NativeMcpResource = Pick<
  Selectable<NativeConnections>,
  'workspace_id' | 'id' | 'name' | 'provider' | 'toolkit_slug' | 'external_id'
>;

/** A skill without its files. */
export type SkillResource = Pick<Selectable<Skills>, 'id' | 'name' | 'description'>;

/** An agent that can run. */
export type SubAgentResource = Pick<Selectable<Agents>, 'id' | 'name' | 'description'> & {
  published_version_number: number;
};

/** A model without its dates, which JSON has no type for. */
export type ModelResource = Omit<Selectable<AiModels>, 'created_at' | 'updated_at' | 'deleted_at'>;

/** The rows that exist, in no particular order. */
export interface ResourceRows {
  httpTools: HttpToolResource[];
  externalMcps: ExternalMcpResource[];
  nativeMcps: NativeMcpResource[];
  skills: SkillResource[];
  subAgents: SubAgentResource[];
  models: ModelResource[];
  /** Whether the agent has a connection to a channel that is set up and active. */
  hasChannel: boolean;
}

type WithEncoded<T extends object, Field extends keyof T> = Omit<T, Field> & { [F in Field]: string | null };
type EncodedRows = Omit<ResourceRows, 'httpTools' | 'externalMcps'> & {
  httpTools: WithEncoded<HttpToolResource, 'secrets'>[];
  externalMcps: WithEncoded<ExternalMcpResource, 'credential'>[];
};

function fromBase64(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'base64');
}

/**
 * Reads in one statement the targets of a version's links that can be used now. Deleted targets are left out, servers that are not
 * connected, and agents that are not active and published. `characters` is the length of the rows as JSON.
 */
export async function readAgentResources(
  db: Kysely<DB>,
  workspaceId: string,
  ids: ResourceIds,
): Promise<{ rows: ResourceRows; characters: number }> {
  const among = (wanted: readonly string[]) =>
    sql`workspace_id = ${workspaceId} and id = any (${wanted}::uuid[]) and ${notDeletedByKey()}`;
  const { rows } = await sql<{ found: string }>`
    select json_build_object(
      'hasChannel', exists (select from channel_connections where workspace_id = ${workspaceId} and agent_id = ${ids.agent}
        and is_active and is_configured and deleted_at is null),
      'httpTools', (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'description', description,
          'tool_type', tool_type, 'secrets', encode(secrets, 'base64'), 'operations', operations,
          'requires_approval', requires_approval, 'configuration',
          case tool_type when 'CUSTOM_INTEGRATION' then json_build_object('auth', configuration -> 'auth') else configuration end)), '[]')
        from http_tools where ${among(ids.httpTools)}),
      'externalMcps', (select coalesce(json_agg(json_build_object('workspace_id', workspace_id, 'id', id, 'name', name, 'url', url,
          'auth_type', auth_type, 'auth_header_name', auth_header_name, 'credential', encode(credential, 'base64'),
          'config_version', config_version, 'tools', tools, 'input_schemas', input_schemas)), '[]')
        from external_mcps where ${among(ids.externalMcps)} and status = 'CONNECTED'),
      'nativeMcps', (select coalesce(json_agg(json_build_object('workspace_id', workspace_id, 'id', id, 'name', name,
          'provider', provider, 'toolkit_slug', toolkit_slug, 'external_id', external_id)), '[]')
        from native_connections where ${among(ids.nativeMcps)}),
      'skills', (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'description', description)), '[]')
        from skills where ${among(ids.skills)}),
      'subAgents', (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'description', description,
          'published_version_number', published_version_number)), '[]')
        from agents where ${among(ids.subAgents)} and status = 'active' and published_version_number is not null),
      'models', (select coalesce(json_agg(to_json(m)::jsonb - '{created_at,updated_at,deleted_at}'::text[]), '[]')
        from ai_models m where ${among(ids.model === null ? [] : [ids.model])})
    )::text as found`.execute(db);
  const text = rows[0]?.found ?? '';
  const found = JSON.parse(text) as EncodedRows;
  return {
    characters: text.length,
    rows: {
      ...found,
      httpTools: found.httpTools.map((row) => ({ ...row, secrets: fromBase64(row.secrets) })),
      externalMcps: found.externalMcps.map((row) => ({ ...row, credential: fromBase64(row.credential) })),
    },
  };
}
