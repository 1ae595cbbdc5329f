import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { ToolContext } from '../toolkit.ts';

/** A tool could not do what the call asks for. The message is for the model. */
export class ToolRefusal extends Error {}

/** What built-in tools depend on. */
export interface ToolHost {
  /** Throws outside a call, because tools are listed without a context. */
  context(): ToolContext;
  allowPrivateNetwork: boolean;
  /** Logs an error that only the operator may see. */
  failed(error: unknown): void;
}

/** Registers the tools of a toolkit on an MCP server. Reads the context only during calls. */
export type RegisterTools = (server: McpServer, host: ToolHost) => void;

/**
 * Registers one tool on a server. The return value of `run` becomes the text of the result, as JSON when it is no string. A
 * ToolRefusal becomes an error result with its message. Any other error goes to the host, and the result only says that it failed.
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
