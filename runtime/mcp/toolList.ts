import { storableText } from '../../core/json.ts';
import { ownTurn } from '../../core/ownTurn.ts';
import { shorten, toStorable } from '../../core/text.ts';
import { InvalidHeaderNote, mirroredArguments } from './argumentHeaders.ts';
import type { McpConnection } from './connect.ts';
import { McpFailed, notMcp } from './failures.ts';

/** A tool as its server describes it. */
export interface ServerTool {
  name: string;
  description: string | null;
  /** JSON Schema of the arguments, an object. */
  inputSchema: Record<string, unknown>;
}

/** A tool that a server lists and that cannot be offered. */
export interface RejectedTool {
  /** What can be shown of its name, or its number in the list. */
  name: string;
  /** A sentence. */
  reason: string;
}

/** All pages of the list of a server's tools. */
export interface ToolList {
  /** In the server's order; names are unique. */
  tools: ServerTool[];
  rejected: RejectedTool[];
  /** How long the list is fresh after it was read, as the server says: the shortest of its pages. Null when it does not say. */
  freshMs: number | null;
}

const MAX_PAGES = 50;
const MAX_TOOLS = 500;
/** Characters of all names, descriptions and schemas; a row holds them. */
const MAX_CHARACTERS = 512 * 1024;
const MAX_NAME = 128;
/** Characters of a description, of a tool or of a server. */
export const MAX_DESCRIPTION = 4000;
const MAX_REASON = 300;
const MAX_DEPTH = 32;
const UNUSABLE_NAME = `Its name cannot be used: it is empty, longer than ${MAX_NAME} characters or not one line of text.`;
const UNUSABLE_SCHEMA = `Its input schema cannot be used: it is not of an object, or nests deeper than ${MAX_DEPTH} levels.`;
const SAME_NAME = 'A tool before it has the same name.';
const TASK_ONLY = 'It runs as a task only, which this service does not begin.';
/** Characters of a schema whose checks are spread over several turns of the event loop. */
const LARGE_SCHEMA = 16_384;

/**
 * Reads the list of a server's tools, all pages of it; `discoverTools` says what is a failure. Left out are tools with a name or a schema
 * that cannot be used, those whose name an earlier one has, those that run as a task only and, without sessions, those whose
 * `x-mcp-header` breaks the rules, as the protocol demands.
 * @throws {McpFailed} with a message for the user, and what `request` of the connection throws
 */
export async function readToolList(
  connection: Pick<McpConnection, 'request' | 'era'>,
  signal?: AbortSignal,
): Promise<ToolList> {
  const found = new Map<string, ServerTool>();
  const rejected: RejectedTool[] = [];
  let characters = 0;
  let listedTools = 0;
  let freshMs: number | null = null;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await connection.request('tools/list', cursor === undefined ? {} : { cursor }, { signal });
    if (!Array.isArray(result.tools)) throw notMcp();
    const { ttlMs } = result;
    if (typeof ttlMs === 'number' && Number.isFinite(ttlMs)) freshMs = Math.min(freshMs ?? ttlMs, Math.max(0, ttlMs));
    // A page may have half a megabyte, which was parsed in this turn.
    await ownTurn();
    for (const listed of result.tools) {
      listedTools += 1;
      if (listedTools > MAX_TOOLS) throw new McpFailed(`The server lists more than ${MAX_TOOLS} tools.`);
      const read = await readTool(listed, listedTools);
      if ('reason' in read) {
        rejected.push(read);
        continue;
      }
      const { tool, schemaCharacters } = read;
      characters += tool.name.length + (tool.description ?? '').length + schemaCharacters;
      if (characters > MAX_CHARACTERS) throw new McpFailed("The list of the server's tools is larger than 512 KiB.");
      const reason = found.has(tool.name) ? SAME_NAME : wantsTask(listed) ? TASK_ONLY : undefined;
      if (reason === undefined) found.set(tool.name, tool);
      else rejected.push({ name: tool.name, reason });
    }
    await ownTurn();
    if (typeof result.nextCursor !== 'string') {
      const tools = [...found.values()];
      const unmirrored = connection.era === 'modern' ? tools.flatMap(rejection) : [];
      const names = new Set(unmirrored.map(({ name }) => name));
      return {
        tools: tools.filter(({ name }) => !names.has(name)),
        rejected: [...rejected, ...unmirrored],
        freshMs,
      };
    }
    cursor = result.nextCursor;
  }
  throw new McpFailed(`The list of the server's tools has more than ${MAX_PAGES} pages.`);
}

/** One entry of the list, or why it is left out; https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool */
async function readTool(
  listed: unknown,
  position: number,
): Promise<{ tool: ServerTool; schemaCharacters: number } | RejectedTool> {
  const { name, title, description, inputSchema } = Object(listed) as Record<string, unknown>;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME || !/^[^\p{Cc}\p{Cs}]+$/u.test(name)) {
    return { name: shownName(name, position), reason: UNUSABLE_NAME };
  }
  const text = [description, title].find((each) => typeof each === 'string' && each.trim() !== '');
  const json = typeof inputSchema === 'object' ? storableText(inputSchema, MAX_DEPTH) : undefined;
  const schemaCharacters = json?.length ?? 0;
  if (schemaCharacters > LARGE_SCHEMA) await ownTurn();
  const schema: unknown = json === undefined ? undefined : JSON.parse(json);
  const { type = 'object' } = Object(schema) as Record<string, unknown>;
  if (Object(schema) !== schema || Array.isArray(schema) || type !== 'object') {
    return { name, reason: UNUSABLE_SCHEMA };
  }
  const tool = {
    name,
    description: text === undefined ? null : shorten(toStorable(String(text)), MAX_DESCRIPTION),
    inputSchema: { ...(schema as Record<string, unknown>), type },
  };
  return { tool, schemaCharacters };
}

/** What can be shown of a name that cannot be used. */
function shownName(name: unknown, position: number): string {
  const shown =
    typeof name === 'string'
      ? toStorable(name)
          .replace(/\p{Cc}/gu, '\ufffd')
          .trim()
      : '';
  return shown === '' ? `number ${position} of the list` : shorten(shown, MAX_NAME);
}

/** Whether a tool runs only as a task, which a client has to fetch (revision 2025-11-25, basic/utilities/tasks#tool-level-negotiation). */
function wantsTask(listed: unknown): boolean {
  const { execution } = Object(listed) as { execution?: unknown };
  return (Object(execution) as { taskSupport?: unknown }).taskSupport === 'required';
}

function rejection({ name, inputSchema }: ServerTool): RejectedTool[] {
  try {
    mirroredArguments(inputSchema);
    return [];
  } catch (error) {
    if (error instanceof InvalidHeaderNote) return [{ name, reason: shorten(error.message, MAX_REASON) }];
    throw error;
  }
}
