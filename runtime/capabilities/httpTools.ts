import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import type { LinkedHttpTool } from '../resources/resources.ts';
import type { ToolFunction } from '../tools/kinds/kind.ts';
import { functionsOf, runHttpTool, type ToolRunResult } from '../tools/runTool.ts';
import type { Capability } from './capability.ts';

type Row = LinkedHttpTool['row'];

/** What of a tool is the same in every turn. */
type Described = Pick<AgentTool, 'name' | 'owner' | 'description' | 'inputSchema'> & Pick<ToolFunction, 'operationId'>;

const described = new WeakMap<Row, Described[]>();

/** The linked HTTP tools: each is one tool, and a CUSTOM_INTEGRATION one for each of its endpoints. */
export const httpToolsCapability = {
  name: 'httpTools',
  isActive: ({ resources }) => resources.httpTools.length > 0,
  tools: httpTools,
} satisfies Capability;

function httpTools(scope: AgentScope): AgentTool[] {
  return scope.resources.httpTools.flatMap(({ row, requiresApproval }) =>
    functions(row).map(
      ({ operationId, ...tool }): AgentTool => ({
        ...tool,
        origin: { kind: 'http_tool', id: row.id, operationId },
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

function functions(row: Row): Described[] {
  const known = described.get(row);
  if (known) return known;
  const fresh = functionsOf(row).map(({ operationId, description, fallbackDescription, inputSchema }): Described => {
    const texts = [description, row.description ?? ''].map((text) => text.trim()).filter((text) => text !== '');
    return {
      name: operationId ?? row.name,
      owner: operationId === null ? null : row.name,
      description: texts.length > 0 ? texts.join('\n') : fallbackDescription,
      inputSchema,
      operationId,
    };
  });
  described.set(row, fresh);
  return fresh;
}

/** The answer itself; of a failed run what failed, and what was answered. */
function outputOf({ success, statusCode, responseData, errorMessage }: ToolRunResult): ToolOutput {
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
