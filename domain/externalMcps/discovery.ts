import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../core/ids.ts';
import { SecretUnreadable } from '../../core/secrets.ts';
import {
  beginDiscovery,
  type ExternalMcpRow,
  lockExternalMcp,
  noteRefresh,
  updateExternalMcpRow,
} from '../../db/queries/tools/externalMcps.ts';
import type { StoredMcpSchemas, StoredMcpTool, StoredToolsLeftOut } from '../../db/stored/mcpTool.ts';
import { inTransaction } from '../../db/transaction.ts';
import { credentialHeaders, credentialValues, openCredential } from '../../runtime/mcp/credential.ts';
import { type DiscoveredTool, type Discovery, discoverTools } from '../../runtime/mcp/discover.ts';
import { McpFailed } from '../../runtime/mcp/failures.ts';
import type { RejectedTool } from '../../runtime/mcp/toolList.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { hideSecrets } from '../../runtime/tools/secrets/hideSecrets.ts';
import type { WorkspaceContext } from '../context.ts';

/** Tools that one line of the log names. */
const MAX_LOGGED = 20;
/** Tools that are left out and whose names are stored: a draft may be linked to thousands of servers, and its check reads all of theirs. */
const MAX_NAMED = 10;

/** The result of a discovery, or why it failed. */
export type DiscoveryOutcome = Discovery | McpFailed;

/** Discovers the tools of a server within ten seconds. Writes nothing. Whatever the server does is an outcome, not an exception. */
export async function attemptDiscovery(
  runtime: Runtime,
  row: ExternalMcpRow,
  signal?: AbortSignal,
): Promise<DiscoveryOutcome> {
  const { secrets, allowPrivateNetwork, logger } = runtime;
  try {
    const headers = credentialHeaders(secrets, row);
    const at = { url: row.url, headers, allowPrivateNetwork, workspaceId: row.workspace_id };
    const found = await discoverTools({ ...at, ...(signal ? { signal } : {}) });
    // The API lists these texts and models read them, so a server must not repeat its credential there.
    const owner = { workspaceId: row.workspace_id };
    const shown = await hideSecrets(found, credentialValues(openCredential(secrets, row)), owner);
    if (!shown) return new McpFailed('It takes too long to hide the credential in what the server says.');
    if (shown.rejected.length > 0) {
      const left = { count: shown.rejected.length, tools: shown.rejected.slice(0, MAX_LOGGED) };
      logger?.warn({ ...owner, externalMcpId: row.id, ...left }, 'tools of an MCP server are left out');
    }
    const [first] = shown.rejected;
    if (first && shown.tools.length === 0) {
      return new McpFailed(`The server lists no tool that can be used. The first is ${first.name}. ${first.reason}`);
    }
    return shown;
  } catch (error) {
    if (error instanceof McpFailed) return error;
    if (error instanceof SecretUnreadable) {
      return new McpFailed('The stored credential cannot be read any more. Send it again.', { cause: error });
    }
    throw error;
  }
}

/**
 * Stores the outcome of a discovery that began with `row`. The outcome is dropped when the address or the credential changed
 * meanwhile, or when a later discovery has ended. One that nobody asked for (`isRefresh`) leaves the tools as they are when it failed, and
 * makes no turn read them anew when it found the same. Returns the server as it is now; undefined when it was deleted.
 */
export function settleDiscovery(
  { db, workspaceId, clock }: WorkspaceContext,
  row: ExternalMcpRow,
  outcome: DiscoveryOutcome,
  { isRefresh = false } = {},
): Promise<ExternalMcpRow | undefined> {
  return inTransaction(db, async (trx) => {
    const present = await lockExternalMcp(trx, workspaceId, row.id);
    if (!present) return undefined;
    const outdated =
      present.config_version !== row.config_version || present.discovery_settled >= row.discoveries_begun;
    if (outdated) return present;
    const now = clock.now();
    const settled = { discovery_settled: row.discoveries_begun, updated_at: now };
    if (outcome instanceof McpFailed) {
      if (isRefresh) return present;
      const failure = { status: 'ERROR' as const, error_message: outcome.message };
      return updateExternalMcpRow(trx, workspaceId, row.id, { ...settled, ...failure });
    }
    const { description } = outcome;
    const tools_left_out = leftOutColumn(outcome.rejected);
    const found = { description, ...toolColumns(present.tools, outcome.tools) };
    if (isRefresh && isSame(present, found)) {
      return noteRefresh(trx, workspaceId, row.id, {
        discovery_settled: row.discoveries_begun,
        last_discovered_at: now,
        tools_left_out,
      });
    }
    return updateExternalMcpRow(trx, workspaceId, row.id, {
      ...settled,
      status: 'CONNECTED',
      error_message: null,
      ...found,
      tools_left_out,
      last_discovered_at: now,
    });
  });
}

/** Discovers the tools of a server again. Returns the server as it is now; undefined when it does not exist. */
export async function rediscover(context: WorkspaceContext, id: string): Promise<ExternalMcpRow | undefined> {
  const row = await beginDiscovery(context.db, context.workspaceId, id);
  return row && discover(context, row);
}

/** Discovers the tools of a server and stores the outcome. Returns what `settleDiscovery` does. */
export async function discover(context: WorkspaceContext, row: ExternalMcpRow): Promise<ExternalMcpRow | undefined> {
  return settleDiscovery(context, row, await attemptDiscovery(context.runtime, row));
}

function isSame(
  present: ExternalMcpRow,
  found: { description: string | null; tools: string; input_schemas: string },
): boolean {
  return (
    present.status === 'CONNECTED' &&
    present.description === found.description &&
    isDeepStrictEqual(present.tools, JSON.parse(found.tools)) &&
    isDeepStrictEqual(present.input_schemas, JSON.parse(found.input_schemas))
  );
}

/** What whoever builds agents is told of the tools that agents cannot use. */
function leftOutColumn(rejected: readonly RejectedTool[]): string | null {
  if (rejected.length === 0) return null;
  const leftOut: StoredToolsLeftOut = { count: rejected.length, tools: rejected.slice(0, MAX_NAMED) };
  return JSON.stringify(leftOut);
}

/** The columns of the tools. A tool that was listed before under the same name keeps its id and whether it is enabled. */
function toolColumns(present: StoredMcpTool[], found: DiscoveredTool[]): { tools: string; input_schemas: string } {
  const before = new Map(present.map((tool) => [tool.name, tool]));
  const tools = found.map(({ name, description, resources }): StoredMcpTool => {
    const { id, enabled } = before.get(name) ?? { id: newId(), enabled: true };
    return { id, name, description, enabled, ...(resources ? { resources } : {}) };
  });
  const schemas: StoredMcpSchemas = Object.fromEntries(tools.map(({ id }, index) => [id, found[index]?.inputSchema]));
  return { tools: JSON.stringify(tools), input_schemas: JSON.stringify(schemas) };
}
