import type { ErrorDetail } from '../../../core/errors.ts';
import { below, checkShape, faultAt } from '../configuration/faults.ts';
import { declaredInputs, fitInputs, inputSchemaFaults } from '../configuration/inputSchema.ts';
import { checkConnection, checkQuery, parameterNames, runDatabaseQuery } from '../databaseQuery/databaseQuery.ts';
import { HIDDEN } from '../secrets/secrets.ts';
import { DEFAULT_TIMEOUT_SECONDS, type JsonSchema, TIMEOUT_SHAPE, type ToolOutcome } from '../tool.ts';
import { NO_INPUTS, type ToolKind, type ToolRun } from './kind.ts';

/** Configuration of a DATABASE_QUERY. */
interface DatabaseQueryConfiguration {
  connection: string;
  query: string;
  inputSchema?: JsonSchema;
  maxRows?: number;
  timeoutSeconds?: number;
}

const DEFAULT_MAX_ROWS = 100;

const SHAPE = {
  type: 'object',
  required: ['connection', 'query'],
  additionalProperties: false,
  properties: {
    connection: { type: 'string' },
    query: { type: 'string' },
    inputSchema: { type: 'object' },
    maxRows: { type: 'integer', minimum: 1, maximum: 1000 },
    timeoutSeconds: TIMEOUT_SHAPE,
  },
};

function faultsOf(configuration: Record<string, unknown>, path: string): ErrorDetail[] {
  const { faults, sound } = checkShape<DatabaseQueryConfiguration>(SHAPE, configuration, path);
  const { connection = HIDDEN, query, inputSchema } = sound;
  const connectionFault = connection === HIDDEN ? undefined : checkConnection(connection);
  if (connectionFault !== undefined) faults.push(faultAt(below(path, 'connection'), connectionFault, 'format'));
  if (inputSchema !== undefined) faults.push(...inputSchemaFaults(inputSchema, below(path, 'inputSchema')));
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
    inputs: fitInputs(inputSchema, run.inputs),
    allowPrivateNetwork: run.context.runtime.allowPrivateNetwork,
    signal: run.signal,
  });
  return { statusCode: null, responseData: { rows, ...(truncated ? { truncated } : {}) }, errorMessage: null };
}

/** Runs one query on a PostgreSQL of the workspace. */
export const databaseQuery: ToolKind<DatabaseQueryConfiguration> = {
  secretPaths: [['connection']],
  check: (configuration, path) => ({ faults: faultsOf(configuration, path) }),
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
