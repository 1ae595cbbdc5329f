import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { ToolContext } from '../toolkit.ts';

/** A tool could not do what it was asked; the message is for the model. */
export class ToolRefusal extends Error {}

/** What built-in tools stand on. */
export interface ToolHost {
  /** Throws outside a call: tools are listed without one. */
  context(): ToolContext;
  allowPrivateNetwork: boolean;
  /** Takes an error that is nobody's business but the operator's. */
  failed(error: unknown): void;
}

/** Puts the tools of a toolkit on an MCP server. Asks for the context inside of calls only. */
export type RegisterTools = (server: McpServer, host: ToolHost) => void;

/**
 * Puts one tool on a server. What `run` answers becomes the text of the result, JSON when it is no string. A ToolRefusal becomes
 * an error result with its message; any other error goes to the host, and the result says no more than that it failed.
 */
export function registerTool<Shape extends z.ZodRawShape>(
  server: McpServer,
  host: ToolHost,
  tool: { name: string; title: string; description: string; input: z.ZodObject<Shape>; readsOutside?: boolean },
  run: (input: z.output<z.ZodObject<Shape>>) => unknown,
): void {
  const call = async (input: unknown): Promise<CallToolResult> => {
    try {
      const answer = await run(input as z.output<z.ZodObject<Shape>>);
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2);
      return { content: [{ type: 'text', text }] };
    } catch (error) {
      const known = error instanceof ToolRefusal;
      if (!known) host.failed(error);
      return { content: [{ type: 'text', text: known ? error.message : 'The tool failed.' }], isError: true };
    }
  };
  const { name, title, description, input, readsOutside = false } = tool;
  const annotations = { readOnlyHint: true, openWorldHint: readsOutside };
  server.registerTool(name, { title, description, inputSchema: input, annotations }, call);
}
