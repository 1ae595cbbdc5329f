import { ApiError } from '../../core/errors.ts';
import type { ToolkitTool } from '../../integrations/toolkits/toolkits.ts';
import type { AgentScope, AgentTool, ToolCallContext, ToolOutput } from '../agent/tool.ts';
import { searchKnowledge } from '../knowledge/search.ts';
import type { LinkedNativeMcp } from '../resources/resources.ts';
import type { Capability } from './capability.ts';
import { searchTools, TOOLS_SHOWN } from './toolSearch.ts';

type Row = LinkedNativeMcp['row'];

/** Failures that were logged: one is thrown to every turn for some seconds. */
const logged = new WeakSet<object>();

/**
 * The tools of an agent's connections to toolkits. Of a STATIC connection each is a tool; of a DYNAMIC one there are two, which find
 * and call the others. A registry that does not answer costs the tools of its STATIC connections, which is logged, and no turn.
 */
export const nativeMcpsCapability = {
  name: 'nativeMcps',
  isActive: ({ resources }) => resources.nativeMcps.length > 0,
  tools: connectionTools,
} satisfies Capability;

async function connectionTools(scope: AgentScope): Promise<AgentTool[]> {
  const lists = await Promise.all(
    scope.resources.nativeMcps.map(async ({ row, instanceMode }) => {
      if (instanceMode === 'DYNAMIC') return onDemand(scope, row);
      try {
        return (await scope.runtime.toolkits.knownTools(row)).map((tool) => upFront(scope, row, tool));
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

function toolOf(row: Row, operation: string) {
  return {
    origin: { kind: 'native_mcp', id: row.id, operation },
    // Links of connections have no such flag.
    requiresApproval: false,
  } as const;
}

function upFront(scope: AgentScope, row: Row, { name, description, inputSchema }: ToolkitTool): AgentTool {
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
  { signal }: ToolCallContext,
): Promise<ToolOutput> {
  const { db, workspaceId, runtime, resources } = scope;
  const context = {
    db,
    workspaceId,
    clock: runtime.clock,
    signal,
    // The agent's own sources, as its other tools search them.
    searchKnowledge: async (query: string, limit: number) => {
      const hits = await searchKnowledge(scope, { query, limit, sourceIds: resources.knowledgeSourceIds });
      return hits.map(({ sourceName, content }) => ({ source: sourceName, text: content }));
    },
  };
  return orUnavailable(signal, async () => {
    const { text, isError } = await runtime.toolkits.callTool(row, { name, arguments: input }, context);
    return { text: text === '' ? 'Done. The answer is empty.' : text, isError };
  });
}

async function orUnavailable(signal: AbortSignal, work: () => Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!isUnavailable(error)) throw error;
    return { text: 'The registry of these tools cannot be reached at the moment. It may work later.', isError: true };
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

/** The two tools that stand for all of a connection. */
function onDemand(scope: AgentScope, row: Row): AgentTool[] {
  return [
    {
      ...toolOf(row, 'find_tools'),
      name: `${row.name}__find_tools`,
      owner: null,
      description: `Lists the tools of “${row.name}” (${row.toolkit_slug}); with their inputSchema where there are at most ${TOOLS_SHOWN}.`,
      inputSchema: FIND_SCHEMA,
      run: ({ search }, { signal }) =>
        orUnavailable(signal, async () => {
          const tools = await scope.runtime.toolkits.knownTools(row);
          return { text: searchTools(tools, typeof search === 'string' ? search : ''), isError: false };
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
          return { text: 'tool must be the name of a tool, and arguments an object.', isError: true };
        }
        return callTool(scope, row, tool, given as Record<string, unknown>, call);
      },
    },
  ];
}
