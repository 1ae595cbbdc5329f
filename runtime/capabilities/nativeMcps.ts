import { ApiError } from '../../core/errors.ts';
import { ToolRefusal } from '../../integrations/toolkits/builtin/tool.ts';
import type { ToolkitTool } from '../../integrations/toolkits/toolkits.ts';
import type { AgentScope, AgentTool, ToolCallContext, ToolOutput } from '../agent/tool.ts';
import { searchKnowledge } from '../knowledge/search.ts';
import type { LinkedNativeMcp } from '../resources/resources.ts';
import type { Capability } from './capability.ts';
import { errorOutput, nonEmpty, textOutput } from './output.ts';
import { MAX_TOOLS_SHOWN, searchTools } from './toolSearch.ts';

type Row = LinkedNativeMcp['row'];

/** Failures that were logged already: the registry's client throws the same one to every turn for some seconds. */
const logged = new WeakSet<object>();

/**
 * The tools of the linked connections to toolkits. A STATIC connection gives all its tools; a DYNAMIC one gives two, which find and call
 * the others. When the registry does not answer, STATIC connections have no tools; that is logged, and the turn continues without them.
 */
export const nativeMcpsCapability = {
  name: 'nativeMcps',
  isActive: ({ resources }) => resources.nativeMcps.length > 0,
  tools: connectionTools,
} satisfies Capability;

async function connectionTools(scope: AgentScope): Promise<AgentTool[]> {
  const lists = await Promise.all(
    scope.resources.nativeMcps.map(async ({ row, instanceMode }) => {
      if (instanceMode === 'DYNAMIC') return dynamicTools(scope, row);
      try {
        return (await scope.runtime.toolkits.knownTools(row)).map((tool) => staticTool(scope, row, tool));
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (!logged.has(error))
          scope.logger?.warn({ err: error, toolkit: row.toolkit_slug }, 'a toolkit has no tools now');
        logged.add(error);
        return [];
      }
    }),
  );
  return lists.flat();
}

function isUnavailable(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'TOOLKIT_REGISTRY_UNAVAILABLE';
}

function toolOf(row: Row, toolName: string) {
  return {
    origin: { kind: 'native_mcp', id: row.id, toolName },
    // Links to connections have no flag for it.
    requiresApproval: false,
  } as const;
}

function staticTool(scope: AgentScope, row: Row, { name, description, inputSchema }: ToolkitTool): AgentTool {
  return {
    ...toolOf(row, name),
    name,
    owner: row.name,
    description: description === '' ? `The tool “${name}” of “${row.name}”.` : description,
    inputSchema,
    run: (input, call) => callTool(scope, row, name, input, call),
  };
}

async function callTool(
  scope: AgentScope,
  row: Row,
  name: string,
  input: Record<string, unknown>,
  { signal, noteFindings }: ToolCallContext,
): Promise<ToolOutput> {
  const { db, workspaceId, runtime, resources } = scope;
  const context = {
    db,
    workspaceId,
    clock: runtime.clock,
    signal,
    // A toolkit searches the sources of this agent, as `search_knowledge` does.
    searchKnowledge: async (query: string, limit: number) => {
      const sourceIds = resources.knowledgeSourceIds;
      const findings = await searchKnowledge(scope, { query, limit, sourceIds });
      noteFindings(findings);
      const { hits, isIncomplete } = findings;
      if (hits.length === 0 && isIncomplete) throw new ToolRefusal('The knowledge could not be searched this time.');
      return hits.map(({ sourceName, content }) => ({ source: sourceName, text: content }));
    },
  };
  return whileReachable(signal, async () => {
    const { text, isError } = await runtime.toolkits.callTool(row, { name, arguments: input }, context);
    return { text: nonEmpty(text), isError };
  });
}

async function whileReachable(signal: AbortSignal, work: () => Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!isUnavailable(error)) throw error;
    return errorOutput('The registry of these tools cannot be reached at the moment. It may work later.');
  }
}

const FIND_SCHEMA = {
  type: 'object',
  properties: {
    search: { type: 'string', description: 'Words of what is to be done. Left out, all tools are listed.' },
  },
  additionalProperties: false,
};

const CALL_SCHEMA = {
  type: 'object',
  properties: {
    tool: { type: 'string', description: 'Name of the tool.' },
    arguments: { type: 'object', description: 'As the inputSchema of the tool says.', properties: {} },
  },
  required: ['tool'],
};

/** The two tools that stand for all tools of a DYNAMIC connection. */
function dynamicTools(scope: AgentScope, row: Row): AgentTool[] {
  return [
    {
      ...toolOf(row, 'find_tools'),
      name: `${row.name}__find_tools`,
      owner: null,
      description: `Lists the tools of “${row.name}” (${row.toolkit_slug}); with their inputSchema where there are at most ${MAX_TOOLS_SHOWN}.`,
      inputSchema: FIND_SCHEMA,
      run: ({ search }, { signal }) =>
        whileReachable(signal, async () => {
          const tools = await scope.runtime.toolkits.knownTools(row);
          return textOutput(searchTools(tools, typeof search === 'string' ? search : ''));
        }),
    },
    {
      ...toolOf(row, 'call_tool'),
      name: `${row.name}__call_tool`,
      owner: null,
      description: `Calls a tool of “${row.name}” (${row.toolkit_slug}). Find it and its inputSchema first.`,
      inputSchema: CALL_SCHEMA,
      run: async (input, call) => {
        const { tool, arguments: given = {} } = input;
        if (typeof tool !== 'string' || typeof given !== 'object' || given === null || Array.isArray(given)) {
          return errorOutput('tool must be the name of a tool, and arguments an object.');
        }
        return callTool(scope, row, tool, given as Record<string, unknown>, call);
      },
    },
  ];
}
