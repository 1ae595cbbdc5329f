import { newId } from '../../../core/ids.ts';
import type { ExternalMcpRow } from '../../../db/queries/tools/externalMcps.ts';
import type { components } from '../../../generated/api.ts';
import type { SeededWorkspace } from '../db/database.ts';
import type { TestApp } from '../http/app.ts';

type Schemas = components['schemas'];
/** An external MCP server as the API shows it. */
export type ExternalMcp = Schemas['ExternalMcp'];

let made = 0;

/** Registers a server, by default without a credential, in the workspace of `key`. */
export async function registerMcp(
  app: TestApp,
  fields: Partial<Schemas['ExternalMcpCreate']> & { url: string },
  key?: string,
): Promise<ExternalMcp> {
  const body = { name: `Server ${++made}`, authType: 'NONE', ...fields };
  const created = await app.api('post', '/external-mcps', key).send(body);
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** The server from the API. */
export async function readMcp(app: TestApp, id: string, key?: string): Promise<ExternalMcp> {
  const { status, text, body } = await app.api('get', `/external-mcps/${id}`, key);
  if (status !== 200) throw new Error(text);
  return body;
}

/** All rows of a workspace, including deleted ones. */
export function storedMcps({ db, workspaceId }: SeededWorkspace): Promise<ExternalMcpRow[]> {
  return db.selectFrom('external_mcps').selectAll().where('workspace_id', '=', workspaceId).orderBy('id').execute();
}

/** Stores a server that looks discovered, without calling it. Returns its id. */
export async function storeMcp(
  { db, workspaceId }: SeededWorkspace,
  columns: Partial<
    Pick<ExternalMcpRow, 'name' | 'url' | 'status' | 'description' | 'created_at' | 'error_message'>
  > = {},
): Promise<string> {
  const id = newId();
  await db
    .insertInto('external_mcps')
    .values({
      workspace_id: workspaceId,
      id,
      name: `Stored ${++made}`,
      url: 'https://mcp.example.com/mcp',
      auth_type: 'NONE',
      status: 'CONNECTED',
      ...columns,
    })
    .execute();
  return id;
}

/** A promise and the function that fulfils it. */
export function gate(): { passed: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: () => resolve() };
}
