import { checkInputs } from './configuration/inputSchema.ts';
import { runDatabaseQuery } from './databaseQuery/databaseQuery.ts';
import { ToolFailure } from './failure.ts';
import { readVariable, writeVariable } from './internalVariable/internalVariable.ts';
import { variableInputSchema } from './kinds/internalVariable.ts';
import { requestOf } from './openapi/call.ts';
import type { ImportedOperation } from './openapi/endpoint.ts';
import { addQuery, fillAddress } from './request/address.ts';
import { callHttp } from './request/httpCall.ts';
import { carriesSecret, fillBody, fillHeaders, headerValue } from './request/requestParts.ts';
import { isTooDeep } from './request/response.ts';
import { HIDE_LIMIT_MS, redactor } from './secrets/redact.ts';
import { joinSecrets, openSecrets, type Secrets } from './secrets/secrets.ts';
import { OutOfTime, withinTime } from './timeLimit.ts';
import {
  type CustomIntegrationConfiguration,
  type DatabaseQueryConfiguration,
  DEFAULT_TIMEOUT_SECONDS,
  type HttpRequestConfiguration,
  type InternalVariableConfiguration,
  type JsonSchema,
  type StoredTool,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts';

const DEFAULT_MAX_ROWS = 100;

/** What came of one run, as the contract shows it. */
export interface ToolResult extends ToolOutcome {
  success: boolean;
  executionTimeMs: number;
  /** When the run began. */
  executedAt: Date;
}

/** One thing that a model can call: most tools are one, a CUSTOM_INTEGRATION is one for each operation. */
export interface ToolOperation {
  /** Of a CUSTOM_INTEGRATION; it goes into the input `operationId`. */
  operationId: string | null;
  description: string;
  inputSchema: JsonSchema;
}

const NO_INPUTS: JsonSchema = { type: 'object', properties: {} };

/** What a model can call of a tool, each with the schema of its inputs. */
export function operationsOf(tool: Pick<StoredTool, 'tool_type' | 'configuration' | 'operations'>): ToolOperation[] {
  const configuration = tool.configuration as unknown;
  switch (tool.tool_type) {
    case 'HTTP_REQUEST':
    case 'DATABASE_QUERY': {
      const { inputSchema = NO_INPUTS } = configuration as HttpRequestConfiguration | DatabaseQueryConfiguration;
      return [{ operationId: null, description: '', inputSchema }];
    }
    case 'INTERNAL_VARIABLE': {
      const inputSchema = variableInputSchema(configuration as InternalVariableConfiguration);
      return [{ operationId: null, description: '', inputSchema }];
    }
    case 'CUSTOM_INTEGRATION':
      return (tool.operations as unknown as ImportedOperation[]).map(({ operationId, description, inputSchema }) => ({
        operationId,
        description,
        inputSchema,
      }));
  }
}

/** What a run stands on, its configuration whole with the secrets in it. */
interface Run<Configuration> {
  context: ToolContext;
  tool: StoredTool;
  configuration: Configuration;
  inputs: Record<string, unknown>;
  signal: AbortSignal | undefined;
}

function fitting(schema: JsonSchema | undefined, inputs: Record<string, unknown>): Record<string, unknown> {
  const checked = checkInputs(schema, inputs);
  if ('problem' in checked) throw new ToolFailure(checked.problem);
  return checked.inputs;
}

function runHttpRequest({
  context,
  configuration,
  inputs,
  signal,
}: Run<HttpRequestConfiguration>): Promise<ToolOutcome> {
  const { method = 'GET', url, headers = {}, query = {}, body, inputSchema, secrets = {} } = configuration;
  const values = { input: fitting(inputSchema, inputs), secret: secrets };
  const address = addQuery(fillAddress(url, values), query, values);
  const filled = fillHeaders(headers, values);
  const content = body === undefined || body === null ? { headers: filled } : fillBody(body, filled, values);
  return callHttp({
    ...content,
    method,
    url: address,
    timeoutSeconds: configuration.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    allowPrivateNetwork: context.runtime.allowPrivateNetwork,
    // A redirect may lead elsewhere, and a 307 takes the body along; headers stay behind by themselves.
    ...(carriesSecret(body) ? { maxRedirects: 0 } : {}),
    signal,
  });
}

async function runQuery({
  context,
  configuration,
  inputs,
  signal,
}: Run<DatabaseQueryConfiguration>): Promise<ToolOutcome> {
  const { connection, query, inputSchema, maxRows = DEFAULT_MAX_ROWS } = configuration;
  const { rows, truncated } = await runDatabaseQuery({
    connection,
    query,
    maxRows,
    timeoutSeconds: configuration.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    inputs: fitting(inputSchema, inputs),
    allowPrivateNetwork: context.runtime.allowPrivateNetwork,
    signal,
  });
  return { statusCode: null, responseData: { rows, ...(truncated ? { truncated } : {}) }, errorMessage: null };
}

const VARIABLE_INPUTS: JsonSchema = { type: 'object', properties: { value: true }, additionalProperties: false };

async function runVariable({ context, tool, inputs }: Run<InternalVariableConfiguration>): Promise<ToolOutcome> {
  const given = fitting(VARIABLE_INPUTS, inputs);
  const writes = Object.hasOwn(given, 'value');
  const value = writes ? await writeVariable(context, tool, given.value) : await readVariable(context, tool);
  return { statusCode: null, responseData: { value }, errorMessage: null };
}

function runIntegration({
  context,
  tool,
  configuration,
  inputs,
  signal,
}: Run<CustomIntegrationConfiguration>): Promise<ToolOutcome> {
  const operations = (tool.operations ?? []) as unknown as ImportedOperation[];
  const { operationId, ...rest } = inputs;
  const names = operations.map((each) => each.operationId).join(', ');
  if (operationId === undefined && operations.length > 1) {
    throw new ToolFailure(`operationId is needed: one of ${names}.`);
  }
  const operation =
    operationId === undefined ? operations[0] : operations.find((each) => each.operationId === operationId);
  if (operation === undefined) throw new ToolFailure(`operationId must be one of ${names}.`);
  const { headers, ...request } = requestOf(operation, fitting(operation.inputSchema, rest));
  const { type = 'none', headerName = 'authorization', secret = '' } = configuration.auth ?? {};
  if (type !== 'none') headers[headerName] = headerValue(type === 'bearer' ? `Bearer ${secret}` : secret);
  return callHttp({
    ...request,
    headers,
    timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
    allowPrivateNetwork: context.runtime.allowPrivateNetwork,
    signal,
  });
}

function dispatch(run: Run<unknown>): Promise<ToolOutcome> {
  switch (run.tool.tool_type) {
    case 'HTTP_REQUEST':
      return runHttpRequest(run as Run<HttpRequestConfiguration>);
    case 'DATABASE_QUERY':
      return runQuery(run as Run<DatabaseQueryConfiguration>);
    case 'INTERNAL_VARIABLE':
      return runVariable(run as Run<InternalVariableConfiguration>);
    case 'CUSTOM_INTEGRATION':
      return runIntegration(run as Run<CustomIntegrationConfiguration>);
  }
}

/** The outcome without secrets. */
function hidden({ statusCode, responseData, errorMessage }: ToolOutcome, secrets: Secrets): ToolOutcome {
  const values = Object.values(secrets);
  const redact = redactor(values);
  const hide = () => ({
    statusCode,
    responseData: redact.data(responseData),
    errorMessage: errorMessage === null ? null : redact.message(errorMessage),
  });
  // Without secrets the answer is gone through once, and the stopwatch would cost more than that.
  if (values.length === 0) return hide();
  try {
    return withinTime(HIDE_LIMIT_MS, hide);
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    const message = 'It takes too long to hide the secrets of the tool in its answer.';
    return { statusCode, responseData: null, errorMessage: message };
  }
}

/**
 * Runs a tool once, whoever calls it. What fails in the tool, its inputs included, is a result; only a fault of this
 * service itself, such as its database being out of reach, throws. No secret of the tool is in the result. A run that
 * `signal` ends is a result that says so.
 */
export async function runHttpTool(
  context: ToolContext,
  tool: StoredTool,
  inputs: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<ToolResult> {
  const executedAt = context.runtime.clock.now();
  const begun = performance.now();
  let secrets: Secrets = {};
  let outcome: ToolOutcome;
  try {
    secrets = openSecrets(context.runtime.secrets, context.workspaceId, tool);
    const configuration = joinSecrets(tool.tool_type, tool.configuration as object, secrets);
    if (isTooDeep(inputs)) throw new ToolFailure('The inputs nest too deeply.');
    outcome = await dispatch({ context, tool, configuration, inputs, signal });
  } catch (error) {
    if (!(error instanceof ToolFailure) && signal?.aborted !== true) throw error;
    const errorMessage = error instanceof ToolFailure ? error.message : 'The run was stopped.';
    outcome = { statusCode: error instanceof ToolFailure ? error.statusCode : null, responseData: null, errorMessage };
  }
  const shown = hidden(outcome, secrets);
  return {
    success: shown.errorMessage === null,
    ...shown,
    executionTimeMs: Math.round(performance.now() - begun),
    executedAt,
  };
}
