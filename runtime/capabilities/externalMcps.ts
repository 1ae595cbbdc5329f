import { SecretUnreadable } from '../../core/secrets.ts';
import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import { credentialHeaders, credentialValues, type McpCredential, openCredential } from '../mcp/credential.ts';
import { McpFailed } from '../mcp/failures.ts';
import type { LinkedExternalMcp } from '../resources/resources.ts';
import { hideSecrets } from '../tools/secrets/hideSecrets.ts';
import type { Capability } from './capability.ts';
import { errorOutput, nonEmpty } from './output.ts';

type Row = LinkedExternalMcp['row'];
/** The parts of a tool that are the same in every turn. */
type ToolDescription = Pick<AgentTool, 'name' | 'owner' | 'description' | 'inputSchema'>;

const descriptions = new WeakMap<Row, ToolDescription[]>();

/** The tools of the linked MCP servers, as the last discovery found them. A server gets no request before a tool is called. */
export const externalMcpsCapability = {
  name: 'externalMcps',
  isActive: ({ resources }) => resources.externalMcps.length > 0,
  tools: serverTools,
} satisfies Capability;

function serverTools(scope: AgentScope): AgentTool[] {
  return scope.resources.externalMcps.flatMap((linked) =>
    descriptionsOf(linked.row).map(
      (tool): AgentTool => ({
        ...tool,
        origin: { kind: 'external_mcp', id: linked.row.id, toolName: tool.name },
        requiresApproval: linked.requiresApproval,
        run: (input, { signal }) => call(scope, linked, tool.name, input, signal),
      }),
    ),
  );
}

function descriptionsOf(row: Row): ToolDescription[] {
  const known = descriptions.get(row);
  if (known) return known;
  const fresh = row.tools
    .filter(({ enabled }) => enabled)
    .map(({ id, name, description }) => ({
      name,
      owner: row.name,
      description: description ?? `The tool “${name}” of the server “${row.name}”.`,
      inputSchema: row.input_schemas[id] ?? { type: 'object' },
    }));
  descriptions.set(row, fresh);
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
    return errorOutput(`The credential of the server “${row.name}” cannot be read any more.`);
  }
  const headers = credentialHeaders(runtime.secrets, row);
  const server = { workspaceId, id: row.id, configVersion: row.config_version, url: row.url, headers };
  try {
    const { text, isError } = await runtime.mcp.call(server, { instanceMode, tool, arguments: input, signal });
    const shown = await hideSecrets(text, credentialValues(credential), { workspaceId, signal });
    if (shown === undefined) {
      return errorOutput('It takes too long to hide the credential of the server in its answer.');
    }
    return { text: nonEmpty(shown), isError };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof McpFailed)) throw error;
    return errorOutput(`The server “${row.name}” could not be used: ${error.message}`);
  }
}
