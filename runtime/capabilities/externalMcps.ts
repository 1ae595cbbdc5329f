import { SecretUnreadable } from '../../core/secrets.ts';
import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import { credentialHeaders, credentialValues, type McpCredential, openCredential } from '../mcp/credential.ts';
import { McpFailed } from '../mcp/failures.ts';
import type { McpCall } from '../mcp/pool.ts';
import type { LinkedExternalMcp } from '../resources/resources.ts';
import { hideSecrets } from '../tools/secrets/hideSecrets.ts';
import type { Capability } from './capability.ts';
import { errorOutput, nonEmpty } from './output.ts';

type Row = LinkedExternalMcp['row'];
/** The parts of a tool that are the same in every turn. */
type ToolDescription = Pick<AgentTool, 'name' | 'owner' | 'description' | 'inputSchema'> & {
  resources: 'list' | 'read' | undefined;
};

const descriptions = new WeakMap<Row, ToolDescription[]>();

/**
 * The tools of the linked MCP servers, as the last discovery found them. A turn waits for no server before it calls a tool; a list that is
 * not fresh any more is read again beside it, for the next turn.
 */
export const externalMcpsCapability = {
  name: 'externalMcps',
  isActive: ({ resources }) => resources.externalMcps.length > 0,
  tools: serverTools,
} satisfies Capability;

function serverTools(scope: AgentScope): AgentTool[] {
  return scope.resources.externalMcps.flatMap((linked) => {
    scope.runtime.mcp.lists?.shown(scope.workspaceId, linked.row.id);
    return descriptionsOf(linked.row).map(
      ({ resources, ...tool }): AgentTool => ({
        ...tool,
        origin: { kind: 'external_mcp', id: linked.row.id, toolName: tool.name },
        requiresApproval: linked.requiresApproval,
        run: (input, { signal }) =>
          call(scope, linked, {
            tool: tool.name,
            resources,
            arguments: input,
            inputSchema: tool.inputSchema as Record<string, unknown>,
            signal,
          }),
      }),
    );
  });
}

function descriptionsOf(row: Row): ToolDescription[] {
  const known = descriptions.get(row);
  if (known) return known;
  const fresh = row.tools
    .filter(({ enabled }) => enabled)
    .map(({ id, name, description, resources }) => ({
      resources,
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
  asked: Omit<McpCall, 'instanceMode'> & { signal: AbortSignal },
): Promise<ToolOutput> {
  const { signal } = asked;
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
    const { text, isError, files } = await runtime.mcp.call(server, { ...asked, instanceMode });
    const shown = await hideSecrets(text, credentialValues(credential), { workspaceId, signal });
    if (shown === undefined) {
      return errorOutput('It takes too long to hide the credential of the server in its answer.');
    }
    return { text: nonEmpty(shown), isError, ...(files.length > 0 ? { files } : {}) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof McpFailed)) throw error;
    return errorOutput(`The server “${row.name}” could not be used: ${error.message}`);
  }
}
