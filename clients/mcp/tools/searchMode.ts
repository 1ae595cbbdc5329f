import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { CallExtra } from './call.ts';
import type { ToolChoice } from './choice.ts';
import type { ToolSet } from './index.ts';
import { nearest } from './nearest.ts';
import { ToolSearch } from './search.ts';
import type { ToolRow } from './table.ts';
import { failureResult } from './toolFailure.ts';

const SEARCH = 'search_operations';
const DESCRIBE = 'describe_operation';
const CALL = 'call_operation';

const DEFAULT_FOUND = 5;
const MAX_FOUND = 20;

/** Three tools in place of all: they find an operation by words, describe it, and call it. */
export function searchTools(rows: readonly ToolRow[], { readOnly = false }: ToolChoice): ToolSet {
  // An operationId is taken as well: texts of the API name operations by it.
  const byName = new Map(rows.flatMap((row) => [row.tool.name, row.operationId].map((name) => [name, row] as const)));
  const tools = listed(rows, readOnly);
  let search: ToolSearch | undefined;
  const find = (args: Record<string, unknown>) => {
    search ??= new ToolSearch(rows);
    return found(search, args, rows);
  };
  return {
    list: () => tools,
    async call(name, args, extra) {
      const given = argumentsOf(args);
      if (name === SEARCH) return find(given);
      if (name !== DESCRIBE && name !== CALL) throw new TypeError(`There is no tool ${name}.`);
      const row = byName.get(String(given.name ?? ''));
      if (!row) return unknownOperation(given.name, byName);
      return name === DESCRIBE ? described(row) : called(row, given, extra);
    },
  };
}

function listed(rows: readonly ToolRow[], readOnly: boolean): Tool[] {
  const tags = [...new Set(rows.map(({ tag }) => tag))].join(', ');
  const name = { type: 'string', description: `from ${SEARCH}` };
  const local = { readOnlyHint: true, openWorldHint: false };
  return [
    {
      name: SEARCH,
      title: 'Search operations',
      description: `Finds operations of the Guildhall API by what you want to do, best first. Areas: ${tags}`,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'such as "publish an agent"' },
          limit: { type: 'integer', maximum: MAX_FOUND, description: `default ${DEFAULT_FOUND}` },
        },
        required: ['query'],
      },
      outputSchema: {
        type: 'object',
        properties: {
          operations: {
            type: 'array',
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, description: { type: 'string' }, arguments: { type: 'array' } },
            },
          },
        },
      },
      annotations: local,
    },
    {
      name: DESCRIBE,
      title: 'Describe an operation',
      description: `The arguments of one operation as a JSON Schema, and its annotations. Read it before ${CALL}`,
      inputSchema: { type: 'object', properties: { name }, required: ['name'] },
      outputSchema: {
        type: 'object',
        properties: { name: { type: 'string' }, description: { type: 'string' }, inputSchema: { type: 'object' } },
      },
      annotations: local,
    },
    {
      name: CALL,
      title: 'Call an operation',
      description: 'Calls one operation with arguments that fit its inputSchema',
      inputSchema: { type: 'object', properties: { name, arguments: { type: 'object' } }, required: ['name'] },
      annotations: readOnly
        ? { readOnlyHint: true, openWorldHint: true }
        : { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
  ];
}

function argumentsOf(args: unknown): Record<string, unknown> {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? (args as Record<string, unknown>) : {};
}

function found(
  search: ToolSearch,
  { query, limit }: Record<string, unknown>,
  rows: readonly ToolRow[],
): CallToolResult {
  if (typeof query !== 'string' || query.trim() === '') {
    return failureResult({
      code: 'INVALID_ARGUMENTS',
      message: 'query is required: what you want to do, in a few words.',
    });
  }
  const wanted = Math.trunc(Number(limit ?? DEFAULT_FOUND));
  const count = Math.min(MAX_FOUND, Math.max(1, Number.isFinite(wanted) ? wanted : DEFAULT_FOUND));
  const operations = search.find(query, count).map(({ tool }) => ({
    name: tool.name,
    description: tool.description,
    arguments: Object.keys(tool.inputSchema.properties ?? {}),
  }));
  if (operations.length > 0) return result({ operations });
  const areas = [...new Set(rows.map(({ tag }) => tag))].join(', ');
  return result({ operations, hint: `Nothing fits. Use words of the areas: ${areas}.` });
}

function described({ tool }: ToolRow): CallToolResult {
  const { name, title, description, inputSchema, annotations } = tool;
  return result({ name, title, description, inputSchema, annotations });
}

async function called(
  row: ToolRow,
  { name: _, ...given }: Record<string, unknown>,
  extra: CallExtra,
): Promise<CallToolResult> {
  const { arguments: args = {}, ...others } = given;
  const [other] = Object.keys(others);
  if (other !== undefined) {
    const message = `${other} is not known here: put it into arguments, as {"name": …, "arguments": {"${other}": …}}.`;
    return failureResult({ code: 'INVALID_ARGUMENTS', message });
  }
  const { callTool } = await import('./call.ts');
  return callTool(row, args, extra);
}

function unknownOperation(given: unknown, rows: ReadonlyMap<string, ToolRow>): CallToolResult {
  const close = rows.get(nearest(String(given ?? ''), rows.keys()) ?? '')?.tool.name;
  const hint = close === undefined ? `Find one with ${SEARCH}.` : `Did you mean ${close}?`;
  return failureResult({
    code: 'UNKNOWN_OPERATION',
    message: `There is no operation "${String(given ?? '')}". ${hint}`,
  });
}

function result(structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}
