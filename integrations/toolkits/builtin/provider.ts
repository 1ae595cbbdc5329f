import { Client, InMemoryTransport, ProtocolError } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { type ToolCall, type ToolContext, type ToolkitTool, type ToolResult, toolResult } from '../toolkit.ts';
import { registerCalculator } from './calculator.ts';
import { registerHttpFetch } from './httpFetch.ts';
import { registerTime } from './time.ts';
import type { RegisterTools, ToolHost } from './tool.ts';
import { registerWorkspace } from './workspace.ts';

/** The tools of the toolkits in catalogue.ts. */
const TOOLS: ReadonlyMap<string, RegisterTools> = new Map([
  ['time', registerTime],
  ['calculator', registerCalculator],
  ['http_fetch', registerHttpFetch],
  ['workspace', registerWorkspace],
]);

/** Creates an MCP server for a built-in toolkit, not yet connected. Returns undefined when no toolkit has this slug. */
export function createBuiltinServer(slug: string, host: ToolHost): McpServer | undefined {
  const register = TOOLS.get(slug);
  if (!register) return undefined;
  const server = new McpServer({ name: slug, version: '1.0.0' });
  register(server, host);
  return server;
}

/** Connects an MCP client to a toolkit of this process for the time of `use`. */
async function withClient<T>(server: McpServer, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'guildhall', version: '1.0.0' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  try {
    await server.connect(theirs);
    await client.connect(ours);
    return await use(client);
  } finally {
    await client.close();
    await server.close();
  }
}

const LISTING: ToolHost = {
  allowPrivateNetwork: false,
  context: () => {
    throw new Error('Tools are only listed here.');
  },
  failed: () => undefined,
};

/** Lists the tools of a built-in toolkit. Returns an empty list when there is no such toolkit. */
export async function listBuiltinTools(slug: string): Promise<ToolkitTool[]> {
  const server = createBuiltinServer(slug, LISTING);
  if (!server) return [];
  const { tools } = await withClient(server, (client) => client.listTools());
  return tools.map(({ name, description = '', inputSchema }) => ({ name, description, inputSchema }));
}

/**
 * Calls a tool of a built-in toolkit. A refusal of the tool is an error result. Throws errors of what the tool uses, such as the
 * database, and the reason of the context's signal.
 */
export async function callBuiltinTool(
  slug: string,
  call: ToolCall,
  { context, allowPrivateNetwork }: { context: ToolContext; allowPrivateNetwork: boolean },
): Promise<ToolResult> {
  context.signal?.throwIfAborted();
  let failure: { error: unknown } | undefined;
  const server = createBuiltinServer(slug, {
    allowPrivateNetwork,
    context: () => context,
    failed: (error) => {
      failure = { error };
    },
  });
  if (!server) return toolResult(`There is no toolkit "${slug}".`, true);
  const signal = context.signal ? { signal: context.signal } : {};
  // Each tool has its own time limit. The protocol's limit would only be shorter.
  const answer = await withClient(server, (client) => client.callTool(call, { ...signal, timeout: 120_000 })).catch(
    (error: unknown) => {
      context.signal?.throwIfAborted();
      if (!ProtocolError.isInstance(error)) throw error;
      // An unknown tool: the model can try another one.
      return { content: [{ type: 'text' as const, text: error.message }], isError: true };
    },
  );
  if (failure) throw failure.error;
  const content = answer.content as { type: string; text?: string }[];
  return toolResult(content.map(({ text = '' }) => text).join('\n'), answer.isError === true);
}
