import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import type { LinkedHttpTool } from '../resources/resources.ts';
import type { ImportedOperation } from '../tools/openapi/endpoint.ts';
import { operationsOf, runHttpTool, type ToolOperation, type ToolResult } from '../tools/runTool.ts';
import type { HttpRequestConfiguration, InternalVariableConfiguration } from '../tools/tool.ts';
import type { Capability } from './capability.ts';

type Row = LinkedHttpTool['row'];

/** What of a tool is the same in every turn. */
type Described = Pick<AgentTool, 'name' | 'owner' | 'description' | 'inputSchema'> & Pick<ToolOperation, 'operationId'>;

const described = new WeakMap<Row, Described[]>();

/** The linked HTTP tools: each is one tool, and a CUSTOM_INTEGRATION one for each of its operations. */
export const httpToolsCapability = {
  name: 'httpTools',
  isActive: ({ resources }) => resources.httpTools.length > 0,
  tools: httpTools,
} satisfies Capability;

function httpTools(scope: AgentScope): AgentTool[] {
  return scope.resources.httpTools.flatMap(({ row, requiresApproval }) =>
    operations(row).map(
      ({ operationId, ...tool }): AgentTool => ({
        ...tool,
        origin: { kind: 'http_tool', id: row.id, operation: operationId },
        requiresApproval,
        run: async (input, { signal }) => {
          const { db, workspaceId, runtime, conversationId } = scope;
          const inputs = operationId === null ? input : { ...input, operationId };
          const result = await runHttpTool({ db, workspaceId, runtime, conversationId }, row, inputs, signal);
          signal.throwIfAborted();
          return outputOf(result);
        },
      }),
    ),
  );
}

function operations(row: Row): Described[] {
  const known = described.get(row);
  if (known) return known;
  const fresh = operationsOf(row).map(({ operationId, description, inputSchema }): Described => {
    const words = [description, row.description ?? ''].map((text) => text.trim()).filter((text) => text !== '');
    return {
      name: operationId ?? row.name,
      owner: operationId === null ? null : row.name,
      description: words.length > 0 ? words.join('\n') : describe(row, operationId),
      inputSchema,
      operationId,
    };
  });
  described.set(row, fresh);
  return fresh;
}

/** What can be said of a tool that nobody described. Nothing of its configuration that may be meant for the service alone. */
function describe({ name, tool_type: type, configuration, operations }: Row, operationId: string | null): string {
  switch (type) {
    case 'HTTP_REQUEST': {
      const { method = 'GET', url } = configuration as unknown as HttpRequestConfiguration;
      const host = URL.parse(url)?.hostname ?? '';
      return `Sends a ${method} request${/^[\w.-]+$/.test(host) ? ` to ${host}` : ''}.`;
    }
    case 'DATABASE_QUERY':
      return `Runs the query “${name}” on a database and answers with its rows.`;
    case 'INTERNAL_VARIABLE': {
      const variable = configuration as unknown as InternalVariableConfiguration;
      const kept = variable.scope === 'conversation' ? 'in this conversation' : 'for all conversations';
      const writes = variable.writable ? ', or writes it when a value is given' : '';
      return `Reads the variable “${variable.name}” (${variable.type}), which is kept ${kept}${writes}.`;
    }
    case 'CUSTOM_INTEGRATION': {
      const operation = (operations as unknown as ImportedOperation[]).find((each) => each.operationId === operationId);
      return `${operation?.method} ${operation?.path} of “${name}”.`;
    }
  }
}

/** The answer itself; of a failed run what failed, and what was answered. */
function outputOf({ success, statusCode, responseData, errorMessage }: ToolResult): ToolOutput {
  const answer = responseData === null ? '' : textOf(responseData);
  if (success) return { text: answer === '' ? 'Done. The answer is empty.' : answer, isError: false };
  const message = errorMessage ?? 'The tool failed.';
  const status = statusCode === null || message.includes(String(statusCode)) ? '' : ` (HTTP status ${statusCode})`;
  return { text: `${message}${status}${answer === '' ? '' : `\n${answer}`}`, isError: true };
}

/** Text that was answered as text, and JSON as JSON. */
function textOf(data: Record<string, unknown>): string {
  const { text, ...rest } = data;
  return typeof text === 'string' && Object.keys(rest).length === 0 ? text : JSON.stringify(data);
}
