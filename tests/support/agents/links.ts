import type { ErrorCode } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { LinkKind } from '../../../db/queries/agents/agentLinks.ts';
import { insertExternalMcp } from '../../../db/queries/tools/externalMcps.ts';
import { insertConnection, softDeleteConnection } from '../../../db/queries/tools/nativeConnections.ts';
import type { SeededWorkspace } from '../db/database.ts';
import type { TestApp } from '../http/app.ts';
import { makeAgent } from './agents.ts';

/** How a kind of link is made and taken out through the API, and where a version shows it. */
export interface LinkApi {
  kind: LinkKind;
  /** Below `/agents/{id}`. */
  path: string;
  /** The body that links a target. */
  body(targetId: string): object;
  /** The field of a link that names its target; also of the body that links one. */
  idField: string;
  /** The field of a link with the target's name. */
  nameField: string;
  /** What a target that does not exist is called. */
  notFound: ErrorCode;
  /** The field of a version with the links; null when versions do not show them. */
  versionField: 'skills' | 'knowledgeSources' | 'httpTools' | 'subAgents' | null;
  /** The collection that the targets live in, for renaming and deleting; null when the API has none. */
  collection: string | null;
}

/** The six kinds of link. */
export const LINK_APIS: readonly LinkApi[] = [
  {
    kind: 'skill',
    path: 'skills',
    body: (skillPublicId) => ({ skillPublicId }),
    idField: 'skillPublicId',
    nameField: 'skillName',
    notFound: 'SKILL_NOT_FOUND',
    versionField: 'skills',
    collection: 'skills',
  },
  {
    kind: 'knowledge_source',
    path: 'knowledge-sources',
    body: (knowledgeSourcePublicId) => ({ knowledgeSourcePublicId }),
    idField: 'knowledgeSourcePublicId',
    nameField: 'knowledgeSourceName',
    notFound: 'KNOWLEDGE_SOURCE_NOT_FOUND',
    versionField: 'knowledgeSources',
    collection: 'knowledge-sources',
  },
  {
    kind: 'http_tool',
    path: 'http-tools',
    body: (httpToolPublicId) => ({ httpToolPublicId }),
    idField: 'httpToolPublicId',
    nameField: 'toolName',
    notFound: 'HTTP_TOOL_NOT_FOUND',
    versionField: 'httpTools',
    collection: 'http-tools',
  },
  {
    kind: 'external_mcp',
    path: 'external-mcps',
    body: (externalMcpPublicId) => ({ externalMcpPublicId }),
    idField: 'externalMcpPublicId',
    nameField: 'serverName',
    notFound: 'EXTERNAL_MCP_NOT_FOUND',
    versionField: null,
    collection: 'external-mcps',
  },
  {
    kind: 'native_mcp',
    path: 'native-mcps',
    body: (id) => ({ connectionPublicIds: [id] }),
    idField: 'publicId',
    nameField: 'name',
    notFound: 'NATIVE_MCP_CONNECTION_NOT_FOUND',
    versionField: null,
    collection: null,
  },
  {
    kind: 'sub_agent',
    path: 'sub-agents',
    body: (subAgentPublicId) => ({ subAgentPublicId }),
    idField: 'subAgentPublicId',
    nameField: 'subAgentName',
    notFound: 'SUB_AGENT_NOT_FOUND',
    versionField: 'subAgents',
    collection: 'agents',
  },
];

/** The kinds that are linked one by one and belong to the draft: not the connections of toolkits. */
export type LinkSuiteKind = Exclude<LinkKind, 'native_mcp'>;

/** One of them. */
export function linkApi(kind: LinkKind): LinkApi {
  const api = LINK_APIS.find((each) => each.kind === kind);
  if (!api) throw new Error(kind);
  return api;
}

const TOOLKITS = ['time', 'calculator', 'http_fetch', 'workspace'];
let made = 0;

/**
 * Something that an agent can be linked to, stored as it is: what makes it is tested with its own operations. An agent is made
 * now, whatever `created_at` says.
 */
export async function makeTarget(
  app: TestApp,
  kind: LinkKind,
  owner: SeededWorkspace = app.workspace,
  created_at: Date = app.clock.now(),
): Promise<string> {
  const { db, workspaceId } = owner;
  made += 1;
  const common = { workspace_id: workspaceId, id: newId(), name: `Target-${made}`, created_at };
  if (kind === 'sub_agent') return (await makeAgent(app, {}, owner.apiKey)).publicId;
  if (kind === 'skill')
    await db
      .insertInto('skills')
      .values({ ...common, description: 'Does things' })
      .execute();
  if (kind === 'knowledge_source')
    await db
      .insertInto('knowledge_sources')
      .values({ ...common, description: 'About things', source_type: 'TEXT_INPUT', file_kind: 'text', size_bytes: 1 })
      .execute();
  if (kind === 'http_tool')
    await db
      .insertInto('http_tools')
      .values({
        ...common,
        description: 'Looks things up',
        tool_type: 'HTTP_REQUEST',
        configuration: '{"url":"https://example.com"}',
      })
      .execute();
  if (kind === 'external_mcp')
    await insertExternalMcp(db, {
      ...common,
      description: 'Has things',
      url: 'https://mcp.example.com',
      auth_type: 'NONE',
      status: 'CONNECTED',
    });
  if (kind === 'native_mcp') {
    const toolkit_slug = TOOLKITS[made % TOOLKITS.length] ?? '';
    // A workspace has one connection to a built-in toolkit: an earlier one makes place.
    await db
      .updateTable('native_connections')
      .set({ deleted_at: common.created_at })
      .where('toolkit_slug', '=', toolkit_slug)
      .where('deleted_at', 'is', null)
      .execute();
    await insertConnection(db, { ...common, provider: 'builtin', toolkit_slug });
  }
  return common.id;
}

/** Deletes a target as its own operation does, or the admin command where the API has none. */
export async function deleteTarget(
  app: TestApp,
  { collection }: LinkApi,
  targetId: string,
  owner: SeededWorkspace = app.workspace,
): Promise<void> {
  if (collection) {
    const { status, text } = await app.api('delete', `/${collection}/${targetId}`, owner.apiKey);
    if (status !== 204) throw new Error(text);
    return;
  }
  await softDeleteConnection(owner.db, owner.workspaceId, targetId, app.clock.now());
}

/** Links a target through the API. Answers with what it answered. */
export async function link(app: TestApp, agentId: string, api: LinkApi, targetId: string, key?: string) {
  const { status, text, body } = await app.api('post', `/agents/${agentId}/${api.path}`, key).send(api.body(targetId));
  if (status !== 201 && status !== 200) throw new Error(text);
  return body;
}

/** Takes a link out through the API. */
export async function unlink(app: TestApp, agentId: string, api: LinkApi, targetId: string): Promise<void> {
  const { status, text } = await app.api('delete', `/agents/${agentId}/${api.path}/${targetId}`);
  if (status !== 204) throw new Error(text);
}

/** The links of the draft as their list shows them. */
export async function linksOf(
  app: TestApp,
  agentId: string,
  api: LinkApi,
  key?: string,
): Promise<Record<string, unknown>[]> {
  const { status, text, body } = await app.api('get', `/agents/${agentId}/${api.path}`, key);
  if (status !== 200) throw new Error(text);
  return api.kind === 'native_mcp' ? body.connections : body;
}

/** The ids of the targets that the draft is linked to, last linked first. */
export async function linkedIds(app: TestApp, agentId: string, api: LinkApi, key?: string): Promise<string[]> {
  return (await linksOf(app, agentId, api, key)).map((row) => String(row[api.idField]));
}
