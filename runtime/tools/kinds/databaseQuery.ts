import type { ErrorDetail } from '../../../core/errors.ts';
import { below, faultAt } from '../../../core/faults.ts';
import type { CheckedForm } from '../../../core/namedSchemas.ts';
import type { components } from '../../../generated/api.ts';
import { findSchemaFaults, fitInputs } from '../configuration/fitInputs.ts';
import { declaredInputs } from '../configuration/inputSchema.ts';
import { checkConnection, checkQuery, parameterNames, runDatabaseQuery } from '../databaseQuery/databaseQuery.ts';
import { HIDDEN } from '../secrets/secrets.ts';
import { DEFAULT_TIMEOUT_SECONDS, type ToolOutcome } from '../tool.ts';
import { type CheckOptions, NO_INPUTS, type ToolKind, type ToolRun } from './kind.ts';

type DatabaseQueryConfiguration = components['schemas']['DatabaseQueryConfiguration'];

/** Rows that a run gives back when the configuration does not say. */
export const DEFAULT_MAX_ROWS = 100;

async function faultsOf(
  form: CheckedForm<DatabaseQueryConfiguration>,
  path: string,
  { workspaceId }: CheckOptions,
): Promise<ErrorDetail[]> {
  const faults = [...form.faults];
  const { connection = HIDDEN, query, inputSchema } = form.sound;
  const connectionFault = connection === HIDDEN ? undefined : checkConnection(connection);
  if (connectionFault !== undefined) faults.push(faultAt(below(path, 'connection'), connectionFault, 'format'));
  if (inputSchema !== undefined) {
    faults.push(...(await findSchemaFaults(inputSchema, below(path, 'inputSchema'), workspaceId)));
  }
  if (query === undefined) return faults;
  const queryFault = checkQuery(query);
  if (queryFault !== undefined) return [...faults, faultAt(below(path, 'query'), queryFault, 'format')];
  const declared = declaredInputs(inputSchema);
  for (const name of parameterNames(query).filter((each) => declared?.has(each) === false)) {
    faults.push(faultAt(below(path, 'query'), `:${name} is not a property of the inputSchema`, 'placeholder'));
  }
  return faults;
}

async function runQuery(run: ToolRun<DatabaseQueryConfiguration>): Promise<ToolOutcome> {
  const { connection, query, inputSchema, maxRows = DEFAULT_MAX_ROWS, timeoutSeconds } = run.configuration;
  const { rows, truncated } = await runDatabaseQuery({
    connection,
    query,
    maxRows,
    timeoutSeconds: timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    inputs: await fitInputs(inputSchema, run.inputs, run),
    allowPrivateNetwork: run.context.runtime.allowPrivateNetwork,
    workspaceId: run.context.workspaceId,
    signal: run.signal,
  });
  return { statusCode: null, responseData: { rows, ...(truncated ? { truncated } : {}) }, errorMessage: null };
}

/** Runs one query on a PostgreSQL of the workspace. */
export const databaseQuery: ToolKind<DatabaseQueryConfiguration> = {
  secretPaths: [['connection']],
  check: async (...checked) => ({ faults: await faultsOf(...checked) }),
  // The whole address of the database is one secret: with another host comes another password.
  origins: () => [],
  functions: ({ name, configuration }) => [
    {
      operationId: null,
      description: '',
      fallbackDescription: `Runs the query “${name}” on a database and returns its rows.`,
      inputSchema: configuration.inputSchema ?? NO_INPUTS,
    },
  ],
  run: runQuery,
};
