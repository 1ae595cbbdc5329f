import { SecretUnreadable } from '../../core/secrets.ts';
import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import { credentialHeaders, credentialValues, type McpCredential, openCredential } from '../mcp/credential.ts';
import { McpFailed } from '../mcp/failures.ts';
import type { LinkedExternalMcp } from '../resources/resources.ts';
import { hideSecrets } from '../tools/secrets/redact.ts';
import type { Capability } from './capability.ts';

type Row = LinkedExternalMcp['row'];
type Described = Pick<AgentTool, 'name' | 'owner' | 'description' | 'inputSchema'>;

const described = new WeakMap<Row, Described[]>();

/** The tools of the linked MCP servers, as the last discovery found them. No server is asked before one is called. */
export const externalMcpsCapability = {
  name: 'externalMcps',
  isActive: ({ resources }) => resources.externalMcps.length > 0,
  tools: serverTools,
} satisfies Capability;

function serverTools(scope: AgentScope): AgentTool[] {
  return scope.resources.externalMcps.flatMap((linked) =>
    tools(linked.row).map(
      (tool): AgentTool => ({
        ...tool,
        origin: { kind: 'external_mcp', id: linked.row.id, operation: tool.name },
        requiresApproval: linked.requiresApproval,
        run: (input, { signal }) => call(scope, linked, tool.name, input, signal),
      }),
    ),
  );
}

function tools(row: Row): Described[] {
  const known = described.get(row);
  if (known) return known;
  const fresh = row.tools
    .filter(({ enabled }) => enabled)
    .map(({ id, name, description }) => ({
      name,
      owner: row.name,
      description: description ?? `The tool “${name}” of the server “${row.name}”.`,
      inputSchema: row.input_schemas[id] ?? { type: 'object' },
    }));
  described.set(row, fresh);
  return fresh;
}

async function call(
  { workspaceId, runtime }: AgentScope,
  { row, instanceMode }: LinkedExternalMcp,
  tool: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ToolOutput> {
  let credential: McpCredential | null;
  try {
    credential = openCredential(runtime.secrets, row);
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    return { text: `The credential of the server “${row.name}” cannot be read any more.`, isError: true };
  }
  const headers = credentialHeaders(runtime.secrets, row);
  const server = { workspaceId, id: row.id, configVersion: row.config_version, url: row.url, headers };
  try {
    const { text, isError } = await runtime.mcp.call(server, { instanceMode, tool, arguments: input, signal });
    const shown = hideSecrets(text, credentialValues(credential));
    if (shown === undefined) {
      return { text: 'It takes too long to hide the credential of the server in its answer.', isError: true };
    }
    return { text: shown === '' ? 'Done. The answer is empty.' : shown, isError };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof McpFailed)) throw error;
    return { text: `The server “${row.name}” could not be used: ${error.message}`, isError: true };
  }
}
