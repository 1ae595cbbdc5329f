import { shorten, toStorable } from '../../core/text.ts';
import { connectMcp, type McpConnection, type McpConnectOptions, type McpTarget } from './connect.ts';
import { asMcpFailed } from './failures.ts';
import { hasAnyResources, RESOURCE_TOOLS, type ResourceTool } from './resources.ts';
import { MAX_DESCRIPTION, type RejectedTool, readToolList, type ServerTool, type ToolList } from './toolList.ts';

/** A tool that agents can use. */
export interface DiscoveredTool extends ServerTool {
  /** The tool is not the server's: it lists or reads resources. */
  resources?: ResourceTool;
}

/** The result of a discovery. All of it can be stored. */
export interface Discovery {
  /** The server's own description; null when it has none. */
  description: string | null;
  /** In the server's order; names are unique. */
  tools: DiscoveredTool[];
  /** The tools that cannot be offered. */
  rejected: RejectedTool[];
  /** How long the list is fresh, as the server says; null when it does not say. */
  freshMs: number | null;
}

/** Milliseconds for a discovery. Together with the second for closing the session this is less than ten seconds. */
export const DISCOVERY_TIMEOUT_MS = 8800;
const MAX_BYTES = 4 * 1024 * 1024;
const NO_TOOLS: ToolList = { tools: [], rejected: [], freshMs: null };

/**
 * Connects to a server, reads the list of its tools and closes the session, all within ten seconds. A description is cut to 4000
 * characters. It is a failure when the list has more than 500 tools or 512 KiB. A tool that cannot be used is none.
 * @throws {McpFailed} with a message for the user
 */
export async function discoverTools(
  target: McpTarget & Pick<McpConnectOptions, 'outgoing'> & { timeoutMs?: number; signal?: AbortSignal },
): Promise<Discovery> {
  const timeoutMs = target.timeoutMs ?? DISCOVERY_TIMEOUT_MS;
  const limit = AbortSignal.timeout(timeoutMs);
  const deadline = target.signal ? AbortSignal.any([limit, target.signal]) : limit;
  let connection: McpConnection | undefined;
  try {
    const limits = { timeoutMs, maxBytes: MAX_BYTES, maxBytesPer: 'session' as const, signal: deadline };
    connection = await connectMcp({ ...target, ...limits });
    const { description, hasTools, hasResources } = connection;
    const listed = hasTools ? await readToolList(connection, deadline) : NO_TOOLS;
    const { tools, rejected, freshMs } = listed;
    const names = new Set(tools.map(({ name }) => name));
    const reads = hasResources && (await hasAnyResources(connection, deadline)) ? RESOURCE_TOOLS : [];
    return {
      description: description === null ? null : shorten(toStorable(description), MAX_DESCRIPTION),
      tools: [...tools, ...reads.filter(({ name }) => !names.has(name))],
      rejected,
      freshMs,
    };
  } catch (error) {
    throw asMcpFailed(error);
  } finally {
    await connection?.close();
  }
}
