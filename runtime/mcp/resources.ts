import { shorten, shortenStorable } from '../../core/text.ts';
import { callFailure, type McpCallOptions, type McpToolResult, requestWithoutInput } from './call.ts';
import type { McpConnection } from './connect.ts';
import { readResourceContents, statedText } from './content.ts';
import { isProtocolFault, METHOD_NOT_FOUND, notMcp } from './failures.ts';

/** The tools by which an agent finds and reads the resources of a server. */
export type ResourceTool = 'list' | 'read';

/** The two tools, as they are listed beside those of the server. A server that has a tool of such a name keeps its own. */
export const RESOURCE_TOOLS: readonly {
  name: string;
  resources: ResourceTool;
  description: string;
  inputSchema: Record<string, unknown>;
}[] = [
  {
    name: 'list_resources',
    resources: 'list',
    description:
      'Lists the resources (files, records, documents) that this server has, with the URI of each. Read them with read_resource.',
    inputSchema: {
      type: 'object',
      properties: {
        search: { type: 'string', description: 'Only resources with this text in name, URI or description.' },
        cursor: { type: 'string', description: 'Where an earlier list ended.' },
      },
    },
  },
  {
    name: 'read_resource',
    resources: 'read',
    description:
      'Reads a resource of this server by its URI: from list_resources, from a result of another tool, or made from a template.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'The URI of the resource.' } },
      required: ['uri'],
    },
  },
];

const MAX_CHARACTERS = 100_000;
const MAX_LISTED = 200;
const MAX_LINE = 300;
/** Characters of a cursor that a model is given. */
const MAX_CURSOR = 2000;
/** Pages that one search reads. */
const MAX_PAGES = 10;

type Json = Record<string, unknown>;

function lineOf(listed: unknown): string {
  const { name, title, uri, uriTemplate, mimeType, description } = Object(listed) as Json;
  const about = [mimeType, description].filter((each) => typeof each === 'string' && each !== '').join(', ');
  const called = statedText(title ?? name);
  return shorten(
    `${statedText(uri ?? uriTemplate)} ${called}${about === '' ? '' : ` (${about})`}`.replaceAll(/\s+/g, ' '),
    MAX_LINE,
  );
}

const listIn = (value: unknown): unknown[] => {
  if (!Array.isArray(value)) throw notMcp();
  return value;
};

/** Lists resources and, at the beginning, templates: at most 200 lines and ten pages. Throws as `callMcpTool` does. */
async function list(
  connection: Pick<McpConnection, 'request'>,
  input: Json,
  options: McpCallOptions,
): Promise<McpToolResult> {
  const search = typeof input.search === 'string' ? input.search.toLowerCase() : '';
  let cursor = typeof input.cursor === 'string' && input.cursor !== '' ? input.cursor : undefined;
  const isFirst = cursor === undefined;
  const lines: string[] = [];
  let left = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await connection.request('resources/list', cursor === undefined ? {} : { cursor }, options);
    for (const each of listIn(result.resources)) {
      const line = lineOf(each);
      if (!line.toLowerCase().includes(search)) continue;
      if (lines.length < MAX_LISTED) lines.push(line);
      else left += 1;
    }
    const next = typeof result.nextCursor === 'string' ? result.nextCursor : undefined;
    // The same again would be the same page.
    cursor = next === cursor ? undefined : next;
    if (cursor === undefined || (search === '' && lines.length > 0)) break;
  }
  if (left > 0) lines.push(`[${left} more are not shown. Search for a part of the name.]`);
  if (cursor !== undefined)
    lines.push(
      // A part of it would be another one.
      cursor.length > MAX_CURSOR
        ? '[There are more, but the cursor that the server gives is too long to be sent by you. Search for a part of the name.]'
        : `[There are more: list again with the cursor ${JSON.stringify(cursor)}.]`,
    );
  if (isFirst) {
    const templates = await connection
      .request('resources/templates/list', {}, options)
      .catch(() => ({ resourceTemplates: [] }));
    const shown = (Array.isArray(templates.resourceTemplates) ? templates.resourceTemplates : []).map(lineOf);
    const found = shown.filter((line) => line.toLowerCase().includes(search)).slice(0, MAX_LISTED);
    if (found.length > 0) lines.push('Templates (fill in what is in braces):', ...found);
  }
  const text = lines.length > 0 ? lines.join('\n') : 'There are no such resources.';
  return { isError: false, text: shortenStorable(text, MAX_CHARACTERS), files: [], structuredContent: null };
}

async function read(
  connection: Pick<McpConnection, 'request'>,
  input: Json,
  options: McpCallOptions,
): Promise<McpToolResult> {
  const uri = typeof input.uri === 'string' ? input.uri.trim() : '';
  if (uri === '')
    return { isError: true, text: 'Give the URI of the resource to read.', files: [], structuredContent: null };
  const { result, note } = await requestWithoutInput(connection, 'resources/read', { uri }, options);
  if (result === null) return { isError: true, text: note, files: [], structuredContent: null };
  const { text, files } = await readResourceContents(listIn(result.contents));
  return { isError: false, text: shortenStorable(text, MAX_CHARACTERS), files, structuredContent: null };
}

/**
 * Lists or reads resources (https://modelcontextprotocol.io/specification/2025-11-25/server/resources). What the server refuses is a
 * result with `isError`.
 * @throws {McpFailed} the server did not respond, or not with MCP
 */
export async function useResources(
  connection: Pick<McpConnection, 'request'>,
  tool: ResourceTool,
  input: Json,
  options: McpCallOptions = {},
): Promise<McpToolResult> {
  try {
    return await (tool === 'list' ? list : read)(connection, input, options);
  } catch (error) {
    return callFailure(error);
  }
}

/** Whether a server that declares resources has any. One whose list cannot be read is taken to have some, one without the list none. */
export async function hasAnyResources(
  connection: Pick<McpConnection, 'request'>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { resources } = await connection.request('resources/list', {}, { signal });
    if (!Array.isArray(resources) || resources.length > 0) return true;
    const { resourceTemplates } = await connection.request('resources/templates/list', {}, { signal });
    return Array.isArray(resourceTemplates) && resourceTemplates.length > 0;
  } catch (error) {
    return !(isProtocolFault(error) && error.code === METHOD_NOT_FOUND);
  }
}
