import { newId } from '../../core/ids.ts';
import type { LinkKind } from '../../db/queries/agentLinks.ts';
import { makeAgent } from './agents.ts';
import type { TestApp } from './app.ts';
import type { SeededWorkspace } from './database.ts';

/** How a kind of link is made and taken out through the API, and where a version shows it. */
export interface LinkApi {
  kind: LinkKind;
  /** Below `/agents/{id}`. */
  path: string;
  /** The body that links a target. */
  body(targetId: string): object;
  /** The field of a link that names its target. */
  idField: string;
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
    versionField: 'skills',
    collection: 'skills',
  },
  {
    kind: 'knowledge_source',
    path: 'knowledge-sources',
    body: (knowledgeSourcePublicId) => ({ knowledgeSourcePublicId }),
    idField: 'knowledgeSourcePublicId',
    versionField: 'knowledgeSources',
    collection: 'knowledge-sources',
  },
  {
    kind: 'http_tool',
    path: 'http-tools',
    body: (httpToolPublicId) => ({ httpToolPublicId }),
    idField: 'httpToolPublicId',
    versionField: 'httpTools',
    collection: 'http-tools',
  },
  {
    kind: 'external_mcp',
    path: 'external-mcps',
    body: (externalMcpPublicId) => ({ externalMcpPublicId }),
    idField: 'externalMcpPublicId',
    versionField: null,
    collection: 'external-mcps',
  },
  {
    kind: 'native_mcp',
    path: 'native-mcps',
    body: (id) => ({ connectionPublicIds: [id] }),
    idField: 'publicId',
    versionField: null,
    collection: null,
  },
  {
    kind: 'sub_agent',
    path: 'sub-agents',
    body: (subAgentPublicId) => ({ subAgentPublicId }),
    idField: 'subAgentPublicId',
    versionField: 'subAgents',
    collection: 'agents',
  },
];

const TOOLKITS = ['time', 'calculator', 'http_fetch', 'workspace'];
let made = 0;

/** Something that an agent can be linked to, stored as it is: what makes it is tested with its own operations. */
export async function makeTarget(
  app: TestApp,
  kind: LinkKind,
  owner: SeededWorkspace = app.workspace,
): Promise<string> {
  const { db, workspaceId } = owner;
  made += 1;
  const common = { workspace_id: workspaceId, id: newId(), name: `Target-${made}`, created_at: app.clock.now() };
  if (kind === 'sub_agent') return (await makeAgent(app, {}, owner.apiKey)).publicId;
  if (kind === 'skill')
    await db
      .insertInto('skills')
      .values({ ...common, description: 'Does things' })
      .execute();
  if (kind === 'knowledge_source')
    await db
      .insertInto('knowledge_sources')
      .values({ ...common, source_type: 'TEXT_INPUT', file_kind: 'text', size_bytes: 1 })
      .execute();
  if (kind === 'http_tool')
    await db
      .insertInto('http_tools')
      .values({ ...common, tool_type: 'HTTP_REQUEST', configuration: '{"url":"https://example.com"}' })
      .execute();
  if (kind === 'external_mcp')
    await db
      .insertInto('external_mcps')
      .values({ ...common, url: 'https://mcp.example.com', auth_type: 'NONE', status: 'CONNECTED' })
      .execute();
  if (kind === 'native_mcp') {
    const toolkit_slug = TOOLKITS[made % TOOLKITS.length] ?? '';
    // A workspace has one connection to a built-in toolkit: an earlier one makes place.
    await db
      .updateTable('native_connections')
      .set({ deleted_at: common.created_at })
      .where('toolkit_slug', '=', toolkit_slug)
      .where('deleted_at', 'is', null)
      .execute();
    await db
      .insertInto('native_connections')
      .values({ ...common, provider: 'builtin', toolkit_slug })
      .execute();
  }
  return common.id;
}

/** Links a target through the API. */
export async function link(app: TestApp, agentId: string, api: LinkApi, targetId: string): Promise<void> {
  const { status, text } = await app.api('post', `/agents/${agentId}/${api.path}`).send(api.body(targetId));
  if (status !== 201 && status !== 200) throw new Error(text);
}

/** Takes a link out through the API. */
export async function unlink(app: TestApp, agentId: string, api: LinkApi, targetId: string): Promise<void> {
  const { status, text } = await app.api('delete', `/agents/${agentId}/${api.path}/${targetId}`);
  if (status !== 204) throw new Error(text);
}

/** The ids of the targets that the draft is linked to, last linked first. */
export async function linkedIds(app: TestApp, agentId: string, api: LinkApi): Promise<string[]> {
  const { status, text, body } = await app.api('get', `/agents/${agentId}/${api.path}`);
  if (status !== 200) throw new Error(text);
  const rows: Record<string, string>[] = api.kind === 'native_mcp' ? body.connections : body;
  return rows.map((row) => String(row[api.idField]));
}
