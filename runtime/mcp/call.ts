import { toStorableJson } from '../../core/json.ts';
import { shorten, toStorable } from '../../core/text.ts';
import type { McpConnection } from './connect.ts';
import { notMcp } from './failures.ts';

/** The result of a call of an MCP server's tool. */
export interface McpToolResult {
  /** Whether the tool says that it failed; `text` then says why. */
  isError: boolean;
  /** All content in its order; content that is not text is replaced by its kind. At most 100,000 characters. */
  text: string;
  /** The structured result, when there is one that is not too large. */
  structuredContent: Record<string, unknown> | null;
}

/** Limits of one call. */
export interface McpCallOptions {
  /** Ends the call; its own reason is thrown. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
}

const MAX_CHARACTERS = 100_000;
const MAX_DEPTH = 32;

function textOf(part: unknown): string {
  const { type, text, mimeType, uri, name, resource } = Object(part) as Record<string, unknown>;
  const embedded = Object(resource) as Record<string, unknown>;
  switch (type) {
    case 'text':
      return String(text ?? '');
    case 'resource_link':
      return `[${String(name ?? 'resource')}](${String(uri ?? '')})`;
    case 'resource':
      return typeof embedded.text === 'string' ? embedded.text : `[resource ${String(embedded.uri ?? '')}]`;
    default:
      return `[${String(type ?? 'content')} ${String(mimeType ?? '')}]`;
  }
}

/**
 * Calls a tool. When the tool reports an error, or the server refuses the request (an unknown tool, wrong arguments), the result
 * has `isError`, so that the model can try something else.
 * @throws {McpFailed} the server did not respond, or not with MCP
 */
export async function callMcpTool(
  connection: Pick<McpConnection, 'request'>,
  name: string,
  args: Record<string, unknown>,
  options: McpCallOptions = {},
): Promise<McpToolResult> {
  let result: Record<string, unknown>;
  try {
    result = await connection.request('tools/call', { name, arguments: args }, options);
  } catch (error) {
    const { name: kind, message } = Object(error) as Record<string, unknown>;
    if (kind !== 'McpError') throw error;
    return { isError: true, text: shorten(toStorable(String(message)), MAX_CHARACTERS), structuredContent: null };
  }
  const { content = [], structuredContent, isError } = result;
  if (!Array.isArray(content)) throw notMcp();
  const structured =
    typeof structuredContent === 'object' && structuredContent !== null
      ? (toStorableJson(structuredContent, MAX_DEPTH) as Record<string, unknown> | undefined)
      : undefined;
  const json = structured === undefined ? '' : JSON.stringify(structured);
  const text = content.map(textOf).join('\n') || json;
  return {
    isError: isError === true,
    text: shorten(toStorable(text), MAX_CHARACTERS),
    structuredContent: structured !== undefined && json.length <= MAX_CHARACTERS ? structured : null,
  };
}
