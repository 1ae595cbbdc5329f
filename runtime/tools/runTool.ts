import { isDeeperThan } from '../../core/json.ts';
import { ToolFailure } from './failure.ts';
import type { ToolFunction } from './kinds/kind.ts';
import { TOOL_KINDS } from './kinds/kinds.ts';
import { MAX_DEPTH } from './request/response.ts';
import { hideInOutcomeOf } from './secrets/hideSecrets.ts';
import { joinSecrets, openSecrets, type Secrets } from './secrets/secrets.ts';
import type { RunnableTool, ToolOutcome, ToolRunContext } from './tool.ts';

/** The result of one run, as the contract shows it. */
export interface ToolRunResult extends ToolOutcome {
  success: boolean;
  executionTimeMs: number;
  /** When the run began. */
  executedAt: Date;
}

/** What a model can call of a tool, each with the schema of its inputs. */
export function functionsOf(
  tool: Pick<RunnableTool, 'tool_type' | 'configuration' | 'operations'> & { name: string },
): ToolFunction[] {
  const { name, tool_type: type, configuration, operations } = tool;
  return TOOL_KINDS[type].functions({ name, configuration, endpoints: operations ?? [] });
}

/** The outcome without secrets. */
async function withoutSecrets(
  { statusCode, responseData, errorMessage }: ToolOutcome,
  secrets: readonly string[],
  workspaceId: string,
): Promise<ToolOutcome> {
  const outcome = { data: responseData, message: errorMessage };
  // Nothing but its time limit ends it: the result of a run that was stopped hides secrets too.
  const shown = await hideInOutcomeOf(outcome, secrets, { workspaceId });
  if (shown) {
    return { statusCode, responseData: shown.data as ToolOutcome['responseData'], errorMessage: shown.message };
  }
  const message = 'It takes too long to hide the secrets of the tool in its answer.';
  return { statusCode, responseData: null, errorMessage: message };
}

/**
 * Runs a tool once, for a model or for a test. A failure of the tool, unfit inputs included, is a result; only a failure of
 * this service itself, such as a lost database connection, throws. The result names no secret of the tool. When `signal` ends
 * the run, the result says so.
 */
export async function runHttpTool(
  context: ToolRunContext,
  tool: RunnableTool,
  inputs: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<ToolRunResult> {
  const executedAt = context.runtime.clock.now();
  const begun = performance.now();
  let secrets: Secrets = {};
  let texts: string[] = [];
  let outcome: ToolOutcome;
  try {
    secrets = openSecrets(context.runtime.secrets, context.workspaceId, tool);
    if (isDeeperThan(inputs, MAX_DEPTH)) throw new ToolFailure('The inputs nest too deeply.');
    const kind = TOOL_KINDS[tool.tool_type];
    const configuration = joinSecrets(kind.secretPaths, tool.configuration, secrets);
    texts = kind.secretTexts?.(configuration) ?? [];
    outcome = await kind.run({ context, tool, configuration, endpoints: tool.operations ?? [], inputs, signal });
  } catch (error) {
    if (!(error instanceof ToolFailure) && signal?.aborted !== true) throw error;
    const errorMessage = error instanceof ToolFailure ? error.message : 'The run was stopped.';
    outcome = { statusCode: error instanceof ToolFailure ? error.statusCode : null, responseData: null, errorMessage };
  }
  const shown = await withoutSecrets(outcome, [...Object.values(secrets), ...texts], context.workspaceId);
  return {
    success: shown.errorMessage === null,
    ...shown,
    executionTimeMs: Math.round(performance.now() - begun),
    executedAt,
  };
}
