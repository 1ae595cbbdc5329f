import { storableText } from '../../core/json.ts';
import { ownTurn } from '../../core/ownTurn.ts';
import { shorten, toStorable } from '../../core/text.ts';
import { connectMcp, type McpConnection, type McpConnectOptions, type McpTarget } from './connect.ts';
import { asMcpFailed, McpFailed, notMcp } from './failures.ts';

/** A tool as its server describes it. */
export interface DiscoveredTool {
  name: string;
  description: string | null;
  /** JSON Schema of the arguments, an object. */
  inputSchema: Record<string, unknown>;
}

/** The result of a discovery. All of it can be stored. */
export interface Discovery {
  /** The server's own description; null when it has none. */
  description: string | null;
  /** In the server's order; names are unique. */
  tools: DiscoveredTool[];
}

/** Together with the second for closing the session this is less than ten seconds. */
const DISCOVERY_TIMEOUT_MS = 8800;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_PAGES = 50;
const MAX_TOOLS = 500;
/** Characters of all names, descriptions and schemas; a row holds them. */
const MAX_CHARACTERS = 512 * 1024;
const MAX_NAME = 128;
const MAX_DESCRIPTION = 4000;
const MAX_DEPTH = 32;
/** Characters of a schema whose checks are spread over several turns of the event loop. */
const LARGE_SCHEMA = 16_384;

/**
 * Connects to a server, reads the list of its tools and closes the session, all within ten seconds. A description is cut to 4000
 * characters. It is a failure when the list has more than 500 tools or 512 KiB, two tools with one name, a name that is empty,
 * longer than 128 characters or not one line, or a schema that is not of an object or nests deeper than 32 levels.
 * @throws {McpFailed} with a message for the user
 */
export async function discoverTools(
  target: McpTarget & Pick<McpConnectOptions, 'outgoing'> & { timeoutMs?: number },
): Promise<Discovery> {
  const timeoutMs = target.timeoutMs ?? DISCOVERY_TIMEOUT_MS;
  const deadline = AbortSignal.timeout(timeoutMs);
  let connection: McpConnection | undefined;
  try {
    const limits = { timeoutMs, maxBytes: MAX_BYTES, maxBytesPer: 'session' as const, signal: deadline };
    connection = await connectMcp({ ...target, ...limits });
    const { description, hasTools } = connection;
    return {
      description: description === null ? null : shorten(toStorable(description), MAX_DESCRIPTION),
      tools: hasTools ? await listTools(connection, deadline) : [],
    };
  } catch (error) {
    throw asMcpFailed(error);
  } finally {
    await connection?.close();
  }
}

async function listTools(connection: McpConnection, signal: AbortSignal): Promise<DiscoveredTool[]> {
  const found = new Map<string, DiscoveredTool>();
  let characters = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await connection.request('tools/list', cursor === undefined ? {} : { cursor }, { signal });
    if (!Array.isArray(result.tools)) throw notMcp();
    // A page may have half a megabyte, which was parsed in this turn.
    await ownTurn();
    for (const listed of result.tools) {
      const { tool, schemaCharacters } = await readTool(listed);
      if (found.has(tool.name)) throw new McpFailed('The server lists two tools of the same name.');
      if (found.size >= MAX_TOOLS) throw new McpFailed(`The server lists more than ${MAX_TOOLS} tools.`);
      characters += tool.name.length + (tool.description ?? '').length + schemaCharacters;
      if (characters > MAX_CHARACTERS) throw new McpFailed("The list of the server's tools is larger than 512 KiB.");
      found.set(tool.name, tool);
    }
    await ownTurn();
    if (typeof result.nextCursor !== 'string') return [...found.values()];
    cursor = result.nextCursor;
  }
  throw new McpFailed(`The list of the server's tools has more than ${MAX_PAGES} pages.`);
}

/** One entry of the list; https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool */
async function readTool(listed: unknown): Promise<{ tool: DiscoveredTool; schemaCharacters: number }> {
  const { name, title, description, inputSchema } = Object(listed) as Record<string, unknown>;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME || !/^[^\p{Cc}\p{Cs}]+$/u.test(name)) {
    throw new McpFailed('The server lists a tool whose name cannot be used.');
  }
  const text = [description, title].find((each) => typeof each === 'string' && each.trim() !== '');
  const json = typeof inputSchema === 'object' ? storableText(inputSchema, MAX_DEPTH) : undefined;
  const schemaCharacters = json?.length ?? 0;
  if (schemaCharacters > LARGE_SCHEMA) await ownTurn();
  const schema: unknown = json === undefined ? undefined : JSON.parse(json);
  const { type = 'object' } = Object(schema) as Record<string, unknown>;
  if (Object(schema) !== schema || Array.isArray(schema) || type !== 'object') {
    throw new McpFailed('The server lists a tool whose input schema cannot be used.');
  }
  const tool = {
    name,
    description: text === undefined ? null : shorten(toStorable(String(text)), MAX_DESCRIPTION),
    inputSchema: { ...(schema as Record<string, unknown>), type },
  };
  return { tool, schemaCharacters };
}
