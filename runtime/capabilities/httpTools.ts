import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import type { LinkedHttpTool } from '../resources/resources.ts';
import type { ToolFunction } from '../tools/kinds/kind.ts';
import { functionsOf, runHttpTool, type ToolRunResult } from '../tools/runTool.ts';
import type { Capability } from './capability.ts';
import { errorOutput, nonEmpty, textOutput } from './output.ts';

type Row = LinkedHttpTool['row'];

/** The parts of a tool that are the same in every turn. */
type FunctionDescription = Pick<AgentTool, 'name' | 'owner' | 'description' | 'inputSchema'> &
  Pick<ToolFunction, 'operationId'>;

const descriptions = new WeakMap<Row, FunctionDescription[]>();

/** The linked HTTP tools: each is one tool, and a CUSTOM_INTEGRATION one for each of its endpoints. */
export const httpToolsCapability = {
  name: 'httpTools',
  isActive: ({ resources }) => resources.httpTools.length > 0,
  tools: httpTools,
} satisfies Capability;

function httpTools(scope: AgentScope): AgentTool[] {
  return scope.resources.httpTools.flatMap(({ row, requiresApproval }) =>
    descriptionsOf(row).map(
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

function descriptionsOf(row: Row): FunctionDescription[] {
  const known = descriptions.get(row);
  if (known) return known;
  const fresh = functionsOf(row).map(
    ({ operationId, description, fallbackDescription, inputSchema }): FunctionDescription => {
      const texts = [description, row.description ?? ''].map((text) => text.trim()).filter((text) => text !== '');
      return {
        name: operationId ?? row.name,
        owner: operationId === null ? null : row.name,
        description: texts.length > 0 ? texts.join('\n') : fallbackDescription,
        inputSchema,
        operationId,
      };
    },
  );
  descriptions.set(row, fresh);
  return fresh;
}

/** The response as text. For a failed run, the reason and the response. */
function outputOf({ success, statusCode, responseData, errorMessage }: ToolRunResult): ToolOutput {
  const answer = responseData === null ? '' : textOf(responseData);
  if (success) return textOutput(nonEmpty(answer));
  const message = errorMessage ?? 'The tool failed.';
  const status = statusCode === null || message.includes(String(statusCode)) ? '' : ` (HTTP status ${statusCode})`;
  return errorOutput(`${message}${status}${answer === '' ? '' : `\n${answer}`}`);
}

/** A text response as it is, any other as JSON. */
function textOf(data: Record<string, unknown>): string {
  const { text, ...rest } = data;
  return typeof text === 'string' && Object.keys(rest).length === 0 ? text : JSON.stringify(data);
}
